package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.annotation.WithPermits;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.stereotype.Component;

class WithPermitsExpressionTests {

    private final GuardedContext context =
            GuardedContext.withProperties(Map.of("prefix", "tenant"), Reports.class, Regions.class);

    @AfterEach
    void close() {
        context.close();
    }

    @Test
    void evaluatesAnArgumentByName() {
        assertThat(namesOf(reports -> reports.byName(new Tenant("acme")))).containsExactly("tenant:acme");
    }

    @Test
    void evaluatesAnArgumentByIndex() {
        assertThat(namesOf(reports -> reports.byIndex("x", "y"))).containsExactly("x/y");
    }

    @Test
    void evaluatesTheCall() {
        assertThat(namesOf(Reports::byCall)).containsExactly("byCall/Reports/eu/0");
    }

    @Test
    void evaluatesABean() {
        assertThat(namesOf(Reports::byBean)).containsExactly("region:eu-1");
    }

    @Test
    void resolvesAPlaceholderBeforeTheExpression() {
        assertThat(namesOf(reports -> reports.byPlaceholderAndName("acme"))).containsExactly("tenant:acme");
    }

    @Test
    void evaluatesTheOwner() {
        assertThat(requestOf(reports -> reports.owned("nightly")).owner()).contains("job nightly");
    }

    @Test
    void evaluatesTheShare() {
        assertThat(requestOf(reports -> reports.shared(new Tenant("acme"), "batch"))
                        .share())
                .contains("acme/batch");
    }

    @Test
    void evaluatesTheLabel() {
        assertThat(requestOf(reports -> reports.labelled("nightly")).label()).contains("report nightly");
        assertThat(requestOf(reports -> reports.byWholeName("nightly")).label()).contains("Reports.byWholeName");
    }

    @Test
    void rendersNumbersAndIds() {
        UUID id = UUID.fromString("00000000-0000-0000-0000-00000000002a");

        assertThat(namesOf(reports -> reports.byIndex(42, id)))
                .containsExactly("42/00000000-0000-0000-0000-00000000002a");
    }

    @Test
    void takesTheValueOfAnOptional() {
        assertThat(namesOf(reports -> reports.byIndex(Optional.of("x"), "y"))).containsExactly("x/y");
    }

    @Test
    void refusesAnEmptyOptional() {
        assertRefused(reports -> reports.byIndex(Optional.empty(), "y"), "#{#p0} is null");
    }

    @Test
    void refusesAWholeNameThatIsNull() {
        assertRefused(reports -> reports.byWholeName(null), "names = \"#{#name}\" has no value: #{#name} is null");
    }

    @Test
    void refusesNullInTheMidstOfAName() {
        assertRefused(
                reports -> reports.byName(new Tenant(null)),
                "WithPermitsExpressionTests$Reports.byName(Tenant): names = \"tenant:#{#tenant.id}\" has no value:"
                        + " #{#tenant.id} is null. Nothing was acquired");
    }

    @Test
    void refusesAnExpressionThatFails() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> context.bean(Reports.class).byName(null))
                .withMessageContaining("Reports.byName(Tenant): names = \"tenant:#{#tenant.id}\"")
                .withMessageContaining("cannot be evaluated: #{#tenant.id} failed")
                .withCauseInstanceOf(SpelEvaluationException.class);
        assertThat(context.permits.requests).isEmpty();
    }

    @Test
    void refusesSeveralValuesForOneName() {
        assertRefused(reports -> reports.byIndex(List.of("a", "b"), "y"), "needs a single value, but #{#p0} is a");
    }

    @Test
    void refusesAnObjectThatHasNoTextOfItsOwn() {
        assertRefused(reports -> reports.byIndex(new Object(), "y"), "cannot be evaluated: #{#p0} failed");
    }

    /** All tenants without a name would share a semaphore. */
    @Test
    void refusesAPartOfANameThatIsEmptyUnlessTheExpressionSaysSo() {
        assertRefused(
                reports -> reports.byName(new Tenant("")),
                "names = \"tenant:#{#tenant.id}\" has no value: #{#tenant.id} is empty. If that is meant, end the expression with ?: ''. Nothing"
                        + " was acquired");
        assertRefused(reports -> reports.byNameWithoutDashes(new Tenant("-")), "is empty. If that is meant");

        assertThat(namesOf(reports -> reports.byNameOrNone(new Tenant("")))).containsExactly("tenant:");
        assertThat(namesOf(reports -> reports.byNameOrNone(new Tenant("a")))).containsExactly("tenant:a");
    }

    @Test
    void refusesANameThatIsInvalidOnceEvaluated() {
        assertRefused(reports -> reports.byWholeName(" "), "is not valid. The semaphore name must not be blank");
    }

    /** All tenants without an id would be one. */
    @Test
    void refusesAShareWithoutTenantOrKey() {
        assertRefused(
                reports -> reports.shared(new Tenant(""), "batch"),
                "share = \"#{#tenant.id}/#{#user}\" has no value: #{#tenant.id} is empty");
        assertRefused(reports -> reports.shared(new Tenant("acme"), null), "has no value: #{#user} is null");
        assertRefused(
                reports -> reports.shared(new Tenant("/acme"), "batch"),
                "is not valid. The share has no tenant: '/acme/batch'");
    }

    @Test
    void refusesAnOwnerThatIsNull() {
        assertRefused(reports -> reports.owned(null), "owner = \"job #{#name}\" has no value");
    }

    @Test
    void refusesALabelThatIsNullOrTooLong() {
        assertRefused(reports -> reports.labelled(null), "label = \"report #{#name}\" has no value");
        assertRefused(
                reports -> reports.labelled("n".repeat(184)),
                "label = \"report #{#name}\" is not valid. The label has 191 characters, at most 190 are allowed");
    }

    @Test
    void asksForANumberOfEachName() {
        assertThat(requestOf(reports -> reports.twoAccounts("a", "b")).permits())
                .isEqualTo(Map.of("account:a", 2, "account:b", 3));
    }

    @Test
    void refusesNamesThatTurnOutToBeEqual() {
        assertRefused(
                reports -> reports.twoAccounts("a", "a"),
                "WithPermitsExpressionTests$Reports.twoAccounts(String, String): names = \"account:#{#to}\" repeats"
                        + " 'account:a'. Name each semaphore once; permits gives the number of permits. Nothing was"
                        + " acquired");
        assertRefused(reports -> reports.exclusive("a", "a"), "names = \"#{#p1}\" repeats 'a'");
    }

    @Test
    void refusesANameThatTurnsOutToEqualALiteral() {
        assertRefused(reports -> reports.ownAndShared("shared"), "names = \"#{#own}\" repeats 'shared'");
    }

    @Test
    void evaluatesArgumentsOfACallThroughAnInterface() {
        try (GuardedContext interfaces = GuardedContext.withInterfaceProxies(ExportJob.class)) {
            interfaces.bean(Job.class).run("nightly");

            assertThat(interfaces.permits.lastRequest().permits()).containsOnlyKeys("export:nightly");
            assertThatExceptionOfType(org.springframework.beans.factory.NoSuchBeanDefinitionException.class)
                    .isThrownBy(() -> interfaces.bean(ExportJob.class));
        }
    }

    private void assertRefused(Consumer<Reports> call, String message) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> call.accept(context.bean(Reports.class)))
                .withMessageContaining(message);
        assertThat(context.permits.requests).isEmpty();
    }

    private List<String> namesOf(Consumer<Reports> call) {
        return List.copyOf(requestOf(call).permits().keySet());
    }

    private AcquireRequest requestOf(Consumer<Reports> call) {
        for (String name : List.of("account:a", "account:b")) {
            context.permits.capacity(name, 5);
        }
        call.accept(context.bean(Reports.class));
        return context.permits.lastRequest();
    }

    record Tenant(@Nullable String id) {}

    @Component("regions")
    static class Regions {

        public String current() {
            return "eu-1";
        }
    }

    static class Reports {

        public String getRegion() {
            return "eu";
        }

        @WithPermits("tenant:#{#tenant.id}")
        void byName(@Nullable Tenant tenant) {}

        @WithPermits("tenant:#{#tenant.id.replace('-', '')}")
        void byNameWithoutDashes(Tenant tenant) {}

        @WithPermits("tenant:#{#tenant.id ?: ''}")
        void byNameOrNone(Tenant tenant) {}

        @WithPermits("#{#p0}/#{#a1}")
        void byIndex(Object first, Object second) {}

        @WithPermits("#{#root.methodName}/#{#root.targetClass.simpleName}/#{#root.target.region}/#{#root.args.length}")
        void byCall() {}

        @WithPermits("region:#{@regions.current()}")
        void byBean() {}

        @WithPermits("${prefix}:#{#id}")
        void byPlaceholderAndName(String id) {}

        @WithPermits("#{#name}")
        void byWholeName(@Nullable String name) {}

        @WithPermits(names = "backup", owner = "job #{#name}")
        void owned(@Nullable String name) {}

        @WithPermits(names = "backup", share = "#{#tenant.id}/#{#user}")
        void shared(Tenant tenant, @Nullable String user) {}

        @WithPermits(names = "backup", label = "report #{#name}")
        void labelled(@Nullable String name) {}

        @WithPermits(
                names = {"account:#{#from}", "account:#{#to}"},
                permits = {2, 3})
        void twoAccounts(String from, String to) {}

        @WithPermits({"shared", "#{#own}"})
        void ownAndShared(String own) {}

        @WithPermits(
                names = {"#{#p0}", "#{#p1}"},
                exclusive = true)
        void exclusive(String first, String second) {}
    }

    interface Job {

        void run(String name);
    }

    static class ExportJob implements Job {

        @Override
        @WithPermits("export:#{#name}")
        public void run(String name) {}
    }
}
