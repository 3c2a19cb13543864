package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.dbsemaphore.admin.SemaphoreName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.mock.env.MockEnvironment;

class InstanceOwnerTests {

    @Test
    void isNamedAfterApplicationHostAndProcess() {
        assertThat(InstanceOwner.of("billing", "pod-7", 42)).isEqualTo("billing@pod-7:42");
    }

    @Test
    void hasANameWhereTheApplicationHasNone() {
        assertThat(InstanceOwner.of("", "pod-7", 42)).isEqualTo("application@pod-7:42");
    }

    @Test
    void knowsThisInstance() {
        assertThat(InstanceOwner.of(new MockEnvironment().withProperty("spring.application.name", "billing")))
                .startsWith("billing@")
                .endsWith(":" + ProcessHandle.current().pid());
    }

    @Test
    void keepsHostAndProcessWhereTheNameIsTooLong() {
        assertThat(InstanceOwner.of("b".repeat(300), "pod-7", 42))
                .hasSize(SemaphoreName.MAX_LENGTH)
                .startsWith("bbb")
                .endsWith("b@pod-7:42");
    }

    @ParameterizedTest
    @ValueSource(strings = {" billing ", "bil\u0000ling\n", "\ud83d", "   ", "billing\u00a0"})
    void isAlwaysAValidOwner(String application) {
        String owner = InstanceOwner.of(application, "host\u0007", 42);

        assertThatCode(() -> SemaphoreName.requireValid(owner)).doesNotThrowAnyException();
    }

    @Test
    void doesNotCutACharacterInTwo() {
        String owner = InstanceOwner.of("\ud83d\ude00".repeat(150), "h".repeat(300), Long.MAX_VALUE);

        assertThatCode(() -> SemaphoreName.requireValid(owner)).doesNotThrowAnyException();
        assertThatCode(() -> SemaphoreName.requireValid(InstanceOwner.of("x" + "\ud83d\ude00".repeat(150), "h", 1)))
                .doesNotThrowAnyException();
    }
}
