package io.dbsemaphore.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.admin.SemaphoreAdmin;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A test that leaves permits held fails, and only that one. */
class PermitLeakExtensionTests {

    @Test
    void namesSemaphoresOwnersAndCounts() {
        assertThat(TestRun.of(selectMethod(Leaking.class, "leaks")).failures())
                .singleElement()
                .isInstanceOf(AssertionError.class)
                .asString()
                .contains(
                        "leaks()",
                        "semaphore 'backup': 2 permit(s) by owner 'nightly'",
                        "semaphore 'network': 1 permit(s)")
                .doesNotContain("before");
    }

    @Test
    void letsOtherTestsPass() {
        assertThat(TestRun.of(selectMethod(Leaking.class, "releases")).succeeded())
                .isEqualTo(1);
        assertThat(TestRun.of(selectMethod(Leaking.class, "releasesAtTheEnd")).failures())
                .isEmpty();
        assertThat(TestRun.of(selectClass(Around.class)).succeeded()).isEqualTo(1);
    }

    @Test
    void readsAllFields() {
        assertThat(TestRun.of(selectClass(Several.class)).failures())
                .singleElement()
                .asString()
                .contains("'above'", "'one'", "'other'", "'inside'");
    }

    @Test
    void needsSomethingToRead() {
        assertThat(TestRun.of(selectClass(WithoutField.class)).failures())
                .hasSize(1)
                .first()
                .asString()
                .contains("has no field of the type InMemorySemaphores or SemaphoreAdmin");
    }

    @ExtendWith(PermitLeakExtension.class)
    static class Leaking {

        private static final InMemorySemaphores semaphores =
                InMemorySemaphores.of("backup", 9).with("network", 9);

        @BeforeAll
        static void holdSomething() {
            semaphores.acquire(AcquireRequest.of("backup").withOwner("before"));
        }

        @Test
        void leaks() {
            semaphores.acquire(
                    AcquireRequest.of("network").withPermits("backup", 2).withOwner("nightly"));
        }

        @Test
        void releases() {
            semaphores.run("backup", () -> {});
        }

        @Test
        void releasesAtTheEnd() {
            semaphores.acquire(AcquireRequest.of("backup").withExternalId("at the end"));
        }

        @AfterEach
        void release() {
            semaphores.release("at the end");
        }
    }

    static class Around {

        private final SemaphoreAdmin admin = InMemorySemaphores.of("backup", 1).admin();

        @Nested
        @ExtendWith(PermitLeakExtension.class)
        class Inside {

            @Test
            void readsTheFieldOfTheClassAround() {
                assertThat(admin.list()).hasSize(1);
            }
        }
    }

    static class Above {

        final InMemorySemaphores above = InMemorySemaphores.of("above", 1);
    }

    @ExtendWith(PermitLeakExtension.class)
    static class Several extends Above {

        private final InMemorySemaphores one = InMemorySemaphores.of("one", 1);
        private final InMemorySemaphores other = InMemorySemaphores.of("other", 1);

        @Nested
        class Inside {

            private final InMemorySemaphores inside = InMemorySemaphores.of("inside", 1);

            @Test
            void leaks() {
                above.acquire(AcquireRequest.of("above"));
                one.acquire(AcquireRequest.of("one"));
                other.acquire(AcquireRequest.of("other"));
                inside.acquire(AcquireRequest.of("inside"));
            }
        }
    }

    @ExtendWith(PermitLeakExtension.class)
    static class WithoutField {

        @Test
        void does() {}
    }
}
