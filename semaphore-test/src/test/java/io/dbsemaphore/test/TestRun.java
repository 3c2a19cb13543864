package io.dbsemaphore.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** A run of test classes within a test, as JUnit does it. */
public final class TestRun implements TestExecutionListener {

    private final List<Throwable> failures = new ArrayList<>();
    private int succeeded;
    private Duration cpuTime = Duration.ZERO;

    private TestRun() {}

    /** Runs what is selected, and returns what became of it. */
    public static TestRun of(DiscoverySelector... selectors) {
        TestRun run = new TestRun();
        LauncherDiscoveryRequest request =
                LauncherDiscoveryRequestBuilder.request().selectors(selectors).build();
        // without the listeners and filters of the build, which are about the tests of the build
        Launcher launcher = LauncherFactory.create(LauncherConfig.builder()
                .enableTestExecutionListenerAutoRegistration(false)
                .enablePostDiscoveryFilterAutoRegistration(false)
                .enableLauncherSessionListenerAutoRegistration(false)
                .build());
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long started = threads.getCurrentThreadCpuTime();
        launcher.execute(request, run);
        run.cpuTime = Duration.ofNanos(threads.getCurrentThreadCpuTime() - started);
        assertThat(run.succeeded + run.failures.size())
                .as("Tests that were run")
                .isPositive();
        return run;
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        result.getThrowable().ifPresent(failures::add);
        if (test.isTest() && result.getStatus() == TestExecutionResult.Status.SUCCESSFUL) {
            succeeded++;
        }
    }

    /** How many tests have succeeded. */
    public int succeeded() {
        return succeeded;
    }

    /** How long the calling thread was running, whatever else the machine did. */
    public Duration cpuTime() {
        return cpuTime;
    }

    /** What has failed, of tests and of classes. */
    public List<Throwable> failures() {
        return failures;
    }
}
