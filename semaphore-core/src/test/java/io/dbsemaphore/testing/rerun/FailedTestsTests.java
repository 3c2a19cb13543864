package io.dbsemaphore.testing.rerun;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.fail;

import io.dbsemaphore.testing.measurement.Measurement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs tests that fail, and then those that have failed once more, as Surefire does. */
class FailedTestsTests {

    @Test
    void runAgainUnlessTheyHaveBrokenAPromise() {
        Results first = run(LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClass(FailOnce.class))
                .build());
        Results second = run(LauncherDiscoveryRequestBuilder.request()
                .selectors(first.failedIds.stream()
                        .map(DiscoverySelectors::selectUniqueId)
                        .toList())
                .build());

        assertThat(first.failed)
                .containsExactlyInAnyOrder(
                        "late()",
                        "tooSlow()",
                        "awaited()",
                        "overTheCapacity()",
                        "[1] permits = 3",
                        "interruptedByAFailedAssertion()");
        assertThat(second.failed).isEmpty();
        assertThat(second.passed).containsExactlyInAnyOrder("late()", "tooSlow()", "awaited()");
    }

    private static Results run(LauncherDiscoveryRequest request) {
        FailedTests failedTests = new FailedTests(null);
        Launcher launcher = LauncherFactory.create(LauncherConfig.builder()
                .enableTestExecutionListenerAutoRegistration(false)
                .enablePostDiscoveryFilterAutoRegistration(false)
                .addTestExecutionListeners(failedTests)
                .addPostDiscoveryFilters(failedTests)
                .build());
        Results results = new Results();
        launcher.execute(request, results);
        return results;
    }

    private static final class Results implements TestExecutionListener {

        private final List<String> failedIds = new ArrayList<>();
        private final List<String> failed = new ArrayList<>();
        private final List<String> passed = new ArrayList<>();

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            if (!test.isTest()) {
                return;
            }
            if (result.getStatus() == TestExecutionResult.Status.SUCCESSFUL) {
                passed.add(test.getDisplayName());
            } else {
                failed.add(test.getDisplayName());
                failedIds.add(test.getUniqueId());
            }
        }
    }

    /** Each fails when it runs for the first time. Surefire does not find the class, since it is nested. */
    static class FailOnce {

        private static final AtomicInteger LATE = new AtomicInteger();
        private static final AtomicInteger SLOW = new AtomicInteger();
        private static final AtomicInteger AWAITED = new AtomicInteger();
        private static final AtomicInteger OVER = new AtomicInteger();
        private static final AtomicInteger EACH = new AtomicInteger();
        private static final AtomicInteger BESIDE = new AtomicInteger();

        @Test
        @Promise
        void late() throws TimeoutException {
            if (LATE.getAndIncrement() == 0) {
                throw new TimeoutException("after 5 s");
            }
        }

        @Test
        @Promise
        void tooSlow() {
            int run = SLOW.getAndIncrement();
            Measurement.check(() -> assertThat(run).isPositive());
        }

        @Test
        @Promise
        void awaited() {
            int run = AWAITED.getAndIncrement();
            Awaitility.await()
                    .pollInterval(Duration.ofMillis(10))
                    .atMost(run == 0 ? Duration.ofMillis(500) : Duration.ofSeconds(20))
                    .untilAsserted(() -> assertThat(run).isPositive());
        }

        @Test
        @Promise
        void overTheCapacity() {
            assertThat(OVER.getAndIncrement()).isPositive();
        }

        @Promise
        @ParameterizedTest
        @ValueSource(ints = 3)
        void overTheCapacity(int permits) {
            assertThat(EACH.getAndIncrement()).isGreaterThanOrEqualTo(permits);
        }

        @Test
        @Promise
        void interruptedByAFailedAssertion() {
            if (BESIDE.getAndIncrement() == 0) {
                IllegalStateException failure = new IllegalStateException("a thread of the test has failed");
                try {
                    fail("4 permits in use of 3");
                } catch (AssertionError assertion) {
                    failure.addSuppressed(assertion);
                }
                throw failure;
            }
        }
    }
}
