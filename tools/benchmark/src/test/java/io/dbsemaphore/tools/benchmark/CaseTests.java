package io.dbsemaphore.tools.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.tools.benchmark.approach.Approach;
import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class CaseTests {

    @Test
    void acquireInTheSameOrderInStep() {
        Case inStep = of(Scenario.REUSE_1000_IN_STEP, Duration.ZERO);
        List<Long> semaphores = inStep.semaphores(1);

        assertThat(LongStream.range(0, 2_000)
                        .mapToObj(turn -> inStep.pick(semaphores, turn).get(0)))
                .hasSize(2_000)
                .startsWith(semaphores.get(0), semaphores.get(1))
                .endsWith(semaphores.get(998), semaphores.get(999));
        assertThat(inStep.capacity()).isEqualTo(64);
    }

    @Test
    void haveSemaphoresAndTablesOfTheirDistance() {
        Case near = of(Scenario.SNAPSHOT, Duration.ZERO);
        Case far = of(Scenario.SNAPSHOT, Duration.ofNanos(500_000));

        assertThat(far.semaphores(1)).doesNotContainAnyElementsOf(near.semaphores(1));
        assertThat(far.tablePrefix()).isNotEqualTo(near.tablePrefix());
        assertThat(far.title()).isEqualTo(near.title() + ", 0.5 ms away");
        assertThat(of(Scenario.THREADS_4, Duration.ofMillis(20)).title())
                .isEqualTo("4 threads, 1 semaphore, 20 ms away");
    }

    private static Case of(Scenario scenario, Duration delay) {
        return new Case(scenario, Approach.DB_SEMAPHORE, false, 0, delay);
    }
}
