package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dbsemaphore.testing.ChildJvm;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.FakeClock;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.rerun.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The {@linkplain ShareScenario scenarios} in three processes, without one inverted pair. */
@Measured
@Promise
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ShareScenariosIntegrationTests {

    private static final Duration SERVED = Duration.ofSeconds(60);

    private static final List<ChildJvm> processes = new ArrayList<>();

    private static ShareProcesses started;

    @BeforeAll
    static void start() {
        started = new ShareProcesses();
        processes.clear();
        processes.addAll(started.start(3));
    }

    @AfterAll
    static void stop() {
        started.close();
    }

    @ParameterizedTest
    @EnumSource
    void callersAreServedInTurn(ShareScenario scenario) {
        ProcessCallers line = line(scenario, processes);

        scenario.run(line);

        assertOrder(scenario, line);
    }

    /**
     * All scenarios at once, each on a semaphore of its own. The process is killed when one of its callers is next in each of them. Who
     * waits there leaves the order, and the others keep theirs.
     */
    @Test
    void callersAreServedInTurnWhileAProcessIsKilled() {
        ChildJvm killed = started.start(1).get(0);
        List<ProcessCallers> lines = lines(List.of(processes.get(0), processes.get(1), killed));
        CyclicBarrier allHaveItNext = new CyclicBarrier(lines.size(), killed::kill9);
        lines.forEach(line -> line.killWhenNext(killed, () -> await(allHaveItNext)));

        runAtOnce(lines, allHaveItNext::reset);

        assertThat(lines).allMatch(ProcessCallers::hasKilled);
        assertAll(lines.stream().map(line -> line::assertByTheRules));
    }

    /** All scenarios at once. */
    @Test
    void callersAreServedInTurnWhereClocksAreAnHourApart() {
        assumeTrue(FakeClock.isInstalled(), "libfaketime is not installed");
        List<ChildJvm> others = started.start(Duration.ofHours(1), Duration.ofHours(-1));
        List<ProcessCallers> lines = lines(List.of(others.get(0), processes.get(0), others.get(1)));

        runAtOnce(lines, () -> {});

        assertAll(Stream.of(ShareScenario.values())
                .map(scenario -> () -> assertOrder(scenario, lines.get(scenario.ordinal()))));
    }

    private static ProcessCallers line(ShareScenario scenario, List<ChildJvm> each) {
        return new ProcessCallers(started, each, scenario.capacity());
    }

    /** In the order of the scenarios. */
    private static List<ProcessCallers> lines(List<ChildJvm> each) {
        return Stream.of(ShareScenario.values())
                .map(scenario -> line(scenario, each))
                .toList();
    }

    /** If one of them fails, the others do not wait for it. */
    private static void runAtOnce(List<ProcessCallers> lines, Runnable onFailure) {
        Concurrently.run(lines.size(), SERVED.multipliedBy(2), scenario -> {
            boolean isDone = false;
            try {
                ShareScenario.values()[scenario].run(lines.get(scenario));
                isDone = true;
            } finally {
                if (!isDone) {
                    onFailure.run();
                }
            }
        });
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await(SERVED.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } catch (BrokenBarrierException | TimeoutException e) {
            throw new IllegalStateException("Not all scenarios have come to the kill", e);
        }
    }

    private static void assertOrder(ShareScenario scenario, ProcessCallers line) {
        line.assertByTheRules();
        Measurement.check(() -> scenario.assertFacts(line.served()));
    }
}
