package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.concurrent.BackOff;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PollIntervalTests {

    private static final long UNKNOWN = Long.MAX_VALUE;
    private static final Duration LONG_BACK_OFF = Duration.ofMillis(400);

    @ParameterizedTest
    @CsvSource({"20, 20", "99, 99", "101, 100", "400, 100"})
    void isTheBackOffOfAnInstanceThatIsNextUpToATenthOfASecond(long backOff, long interval) {
        assertThat(PollInterval.of(0, UNKNOWN, Duration.ofMillis(backOff))).isEqualTo(Duration.ofMillis(interval));
    }

    @ParameterizedTest
    @CsvSource({"1, 30", "2, 100", "3, 200", "4, 400", "5, 400", "1000, 400"})
    void growsWithTheNumberOfInstancesAhead(int instancesAhead, long interval) {
        assertThat(PollInterval.of(instancesAhead, UNKNOWN, Duration.ofMillis(20)))
                .isEqualTo(Duration.ofMillis(interval));
    }

    @Test
    void isATenthOfASecondAtMostForTheOneAfterTheNext() {
        assertThat(PollInterval.of(1, UNKNOWN, LONG_BACK_OFF)).isEqualTo(Duration.ofMillis(100));
    }

    @ParameterizedTest
    @CsvSource({"0, 17, 17", "3, 17, 17", "3, 500, 200", "0, 1, 2", "3, 0, 2"})
    void endsWhenTheTurnIsDueButNotAtOnce(int instancesAhead, long millisToTurn, long interval) {
        assertThat(PollInterval.of(instancesAhead, TimeUnit.MILLISECONDS.toNanos(millisToTurn), LONG_BACK_OFF))
                .isEqualTo(Duration.ofMillis(interval));
    }

    /** The others are to be told that the last one has left. */
    @Test
    void isATenthOfASecondAtMostWhileNobodyWaits() {
        assertThat(new WaitingLines(new QueueClock(() -> 1, bound -> 0), Values.FAIR).pollAfter(Duration.ofMillis(480)))
                .isEqualTo(Duration.ofMillis(100));
    }

    /** What the poller passes to it while nothing happens. */
    @Test
    void ofAnInstanceThatIsNextGrowsWhileNothingHappens() {
        List<Duration> intervals = IntStream.rangeClosed(1, 20)
                .mapToObj(poll -> PollInterval.of(0, UNKNOWN, BackOff.POLLING.after(poll)))
                .toList();

        assertThat(intervals.get(0)).isBetween(Duration.ofMillis(2), Duration.ofMillis(40));
        assertThat(intervals.subList(15, 20)).containsOnly(Duration.ofMillis(100));
    }
}
