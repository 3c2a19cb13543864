package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.annotation.WithPermits;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.BeanCreationException;

/** An attribute that cannot work fails the start, in words that name the method, the attribute and the value. */
class StartUpRefusalTests {

    @ParameterizedTest(name = "{0}")
    @MethodSource("refused")
    void refusesToStart(Class<?> bean, String method, List<String> words) {
        assertThatExceptionOfType(BeanCreationException.class)
                .isThrownBy(() -> GuardedContext.of(bean).close())
                .havingCause()
                .isInstanceOf(IllegalStateException.class)
                .withMessageContaining("@WithPermits on ")
                .withMessageContaining(bean.getName() + "." + method)
                .satisfies(cause -> assertThat(cause.getMessage()).contains(words));
    }

    @Test
    void refusesAPlaceholderWithoutAValueWhereTheContextWouldLeaveItAsItIs() {
        assertThatExceptionOfType(BeanCreationException.class)
                .isThrownBy(() -> GuardedContext.of(UnknownPlaceholder.class).close())
                .withRootCauseInstanceOf(IllegalStateException.class)
                .withStackTraceContaining("names = \"${no.such.property}\" has a placeholder without a value");
    }

    @Test
    void leavesNamesAloneThatNameNoParameter() {
        try (GuardedContext context = GuardedContext.of(OtherCharactersOfExpressions.class)) {
            context.bean(OtherCharactersOfExpressions.class).run("a");
        }
    }

    static Stream<Arguments> refused() {
        return Stream.of(
                Arguments.of(NoNames.class, "run()", List.of("it names no semaphore", "Name at least one")),
                Arguments.of(BlankName.class, "run()", List.of("names = \" \"", "must not be blank")),
                Arguments.of(
                        InvalidName.class,
                        "run()",
                        List.of("names = \" backup\"", "must not begin or end with a space")),
                Arguments.of(ValueAgainstNames.class, "run()", List.of("Different @AliasFor mirror values")),
                Arguments.of(TooFewCounts.class, "run()", List.of("permits = [1, 2]", "has 2 values for 3 names")),
                Arguments.of(NoCounts.class, "run()", List.of("permits = []", "has 0 values for 1 names")),
                Arguments.of(CountOfZero.class, "run()", List.of("permits = 0", "at least 1")),
                Arguments.of(NegativeCount.class, "run()", List.of("permits = -2", "at least 1")),
                Arguments.of(
                        RepeatedName.class,
                        "run()",
                        List.of("names = \"a\" is given twice", "Name each semaphore once", "permits")),
                Arguments.of(
                        RepeatedNameBesideAnExpression.class, "run(String)", List.of("names = \"a\" is given twice")),
                Arguments.of(RepeatedExclusiveName.class, "run()", List.of("names = \"a\" is given twice")),
                Arguments.of(ExclusiveWithCount.class, "run()", List.of("permits = 2", "contradicts exclusive")),
                Arguments.of(UnreadableTtl.class, "run()", List.of("ttl = \"soon\"", "is not a duration")),
                Arguments.of(TtlWithoutUnit.class, "run()", List.of("ttl = \"30\"", "a number and its unit")),
                Arguments.of(TtlOfUnknownUnit.class, "run()", List.of("ttl = \"30x\"", "is not a duration")),
                Arguments.of(BlankTtl.class, "run()", List.of("ttl = \" \"", "is not a duration")),
                Arguments.of(NegativeTtl.class, "run()", List.of("ttl = \"-5s\"", "is negative")),
                Arguments.of(ZeroTtl.class, "run()", List.of("ttl = \"0s\"", "at least PT1S")),
                Arguments.of(ShortTtl.class, "run()", List.of("ttl = \"999ms\"", "at least PT1S")),
                Arguments.of(NegativeWaitTime.class, "run()", List.of("waitTime = \"PT-1S\"", "is negative")),
                Arguments.of(UnreadableWaitTime.class, "run()", List.of("waitTime = \"-\"", "is not a duration")),
                Arguments.of(NegativeHeadStart.class, "run()", List.of("headStart = \"-1m\"", "is negative")),
                Arguments.of(ShortMaxHold.class, "run()", List.of("maxHold = \"10ms\" is too short", "at least PT1S")),
                Arguments.of(
                        ShareWithoutKey.class,
                        "run()",
                        List.of("share = \"acme/\" is not valid", "The share has no key: 'acme/'")),
                Arguments.of(
                        InvalidOwner.class,
                        "run()",
                        List.of("owner = \" me\"", "The owner must not begin or end with a space")),
                Arguments.of(
                        InvalidLabel.class,
                        "run()",
                        List.of("label = \"full \"", "The label must not begin or end with a space")),
                Arguments.of(
                        UnparsableName.class, "run(String)", List.of("names = \"a:#{#id.\"", "invalid expression")),
                Arguments.of(UnparsableOwner.class, "run(String)", List.of("owner = \"#{1 +}\"", "invalid expression")),
                Arguments.of(
                        UnknownArgument.class,
                        "run(String)",
                        List.of("names = \"a:#{#tenant.trim()}\"", "uses #tenant", "#id", "-parameters")),
                Arguments.of(ArgumentOutOfRange.class, "run(String)", List.of("names = \"#{#p1}\"", "uses #p1")),
                Arguments.of(
                        ExpressionWithoutBraces.class,
                        "run(String)",
                        List.of("names = \"#id.trim()\"", "Write #{#id.trim()}")),
                Arguments.of(
                        ExpressionWithoutBracesInAName.class,
                        "run(String)",
                        List.of("names = \"tenant:#id\" is taken literally", "Write #{#id}")),
                Arguments.of(
                        ExpressionWithoutNumberSigns.class,
                        "run(String)",
                        List.of("names = \"tenant:{id.trim()}:a\" is taken literally", "Write #{#id.trim()}")));
    }

    static class NoNames {

        @WithPermits
        void run() {}
    }

    static class BlankName {

        @WithPermits(" ")
        void run() {}
    }

    static class InvalidName {

        @WithPermits(" backup")
        void run() {}
    }

    static class ValueAgainstNames {

        @WithPermits(value = "a", names = "b")
        void run() {}
    }

    static class TooFewCounts {

        @WithPermits(
                names = {"a", "b", "c"},
                permits = {1, 2})
        void run() {}
    }

    static class NoCounts {

        @WithPermits(
                names = "a",
                permits = {})
        void run() {}
    }

    static class CountOfZero {

        @WithPermits(names = "a", permits = 0)
        void run() {}
    }

    static class NegativeCount {

        @WithPermits(
                names = {"a", "b"},
                permits = {1, -2})
        void run() {}
    }

    static class RepeatedName {

        @WithPermits({"a", "${b:a}"})
        void run() {}
    }

    static class RepeatedNameBesideAnExpression {

        @WithPermits({"a", "#{#p0}", "a"})
        void run(String id) {}
    }

    static class RepeatedExclusiveName {

        @WithPermits(
                names = {"a", "a"},
                exclusive = true)
        void run() {}
    }

    static class ExclusiveWithCount {

        @WithPermits(names = "a", permits = 2, exclusive = true)
        void run() {}
    }

    static class UnreadableTtl {

        @WithPermits(names = "a", ttl = "soon")
        void run() {}
    }

    static class TtlWithoutUnit {

        @WithPermits(names = "a", ttl = "30")
        void run() {}
    }

    static class TtlOfUnknownUnit {

        @WithPermits(names = "a", ttl = "30x")
        void run() {}
    }

    static class BlankTtl {

        @WithPermits(names = "a", ttl = " ")
        void run() {}
    }

    static class NegativeTtl {

        @WithPermits(names = "a", ttl = "-5s")
        void run() {}
    }

    static class ZeroTtl {

        @WithPermits(names = "a", ttl = "0s")
        void run() {}
    }

    static class ShortTtl {

        @WithPermits(names = "a", ttl = "999ms")
        void run() {}
    }

    static class NegativeWaitTime {

        @WithPermits(names = "a", waitTime = "PT-1S")
        void run() {}
    }

    static class UnreadableWaitTime {

        @WithPermits(names = "a", waitTime = "-")
        void run() {}
    }

    static class NegativeHeadStart {

        @WithPermits(names = "a", waitTime = "1m", headStart = "-1m")
        void run() {}
    }

    static class ShortMaxHold {

        @WithPermits(names = "a", maxHold = "10ms")
        void run() {}
    }

    static class ShareWithoutKey {

        @WithPermits(names = "a", waitTime = "1m", share = "acme/")
        void run() {}
    }

    static class InvalidOwner {

        @WithPermits(names = "a", owner = " me")
        void run() {}
    }

    static class InvalidLabel {

        @WithPermits(names = "a", label = "full ")
        void run() {}
    }

    static class UnparsableName {

        @WithPermits("a:#{#id.")
        void run(String id) {}
    }

    static class UnparsableOwner {

        @WithPermits(names = "a", owner = "#{1 +}")
        void run(String id) {}
    }

    static class UnknownArgument {

        @WithPermits("a:#{#tenant.trim()}")
        void run(String id) {}
    }

    static class ArgumentOutOfRange {

        @WithPermits("#{#p1}")
        void run(String id) {}
    }

    static class ExpressionWithoutBraces {

        @WithPermits("#id.trim()")
        void run(String id) {}
    }

    static class ExpressionWithoutBracesInAName {

        @WithPermits("tenant:#id")
        void run(String id) {}
    }

    static class ExpressionWithoutNumberSigns {

        @WithPermits("tenant:{id.trim()}:a")
        void run(String id) {}
    }

    static class OtherCharactersOfExpressions {

        @WithPermits({"line#2", "tenant:{other}", "{id", "#identity", "id"})
        void run(String id) {}
    }

    static class UnknownPlaceholder {

        @WithPermits("${no.such.property}")
        void run() {}
    }
}
