package io.dbsemaphore.tools.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class MeasurementTests {

    @Test
    void takesPercentilesOfAllThreadsInMilliseconds() {
        Measurement sum = Measurement.sum(List.of(measurement(1, 1_000, null), measurement(1_001, 2_000, "it broke")));
        assertThat(sum.acquireMillis(50)).isEqualTo(1_000);
        assertThat(sum.acquireMillis(99)).isEqualTo(1_980);
        assertThat(sum.acquireMillis(100)).isEqualTo(2_000);
        assertThat(sum.pairsPerSecond()).isEqualTo(1_000);
        assertThat(sum.connections()).isEqualTo(6);
        assertThat(sum.failures()).isEqualTo(2);
        assertThat(sum.failure()).isEqualTo("it broke");
        assertThat(sum.clientCpuMicros()).isEqualTo(1.5); // 3 ms of two JVMs for 2,000 pairs
    }

    @Test
    void dividesTheWorkOfTheServerByThePairs() {
        ServerWork before = new ServerWork(1_000, 5_000_000, 100);
        Measurement round = measurement(1, 1_000, null).with(new ServerWork(1_250, 25_000_000, 3_100).since(before));

        assertThat(round.grantsPerCommit()).isEqualTo(4);
        assertThat(round.serverCpuMicros()).isEqualTo(20);
        assertThat(round.tripsPerPair()).isEqualTo(3);
        assertThat(measurement(1, 1_000, null).grantsPerCommit()).isNaN();
        assertThat(measurement(1, 1_000, null).serverCpuMicros()).isNaN();
        assertThat(measurement(1, 1_000, null).tripsPerPair()).isNaN();
    }

    @Test
    void hasNoPercentileWithoutAcquires() {
        assertThat(measurement(2, 1, null).acquireMillis(50)).isNaN();
    }

    /** Two seconds with acquires of so many milliseconds, descending. */
    private static Measurement measurement(int from, int to, @Nullable String failure) {
        long[] nanos = LongStream.rangeClosed(from, to)
                .map(millis -> (from + to - millis) * 1_000_000)
                .toArray();
        return new Measurement(
                Duration.ofSeconds(2), nanos.length, nanos, 3, 1, failure, 1_500_000, ServerWork.UNKNOWN);
    }
}
