package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;

class ConflictBackOffTests {

    private static final String NAME = "backup";
    private static final List<String> NAMES = List.of(NAME);
    private static final Duration SLICE = Duration.ofMillis(50);

    private final ConflictBackOff backOff = new ConflictBackOff(true, QueueClock.SYSTEM);
    private long fence;

    @Test
    void doesNothingWithoutAConflict() {
        for (long start = System.nanoTime(); System.nanoTime() - start < 2 * SLICE.toNanos(); ) {
            grant();

            assertThat(backOff.isPaused(NAMES)).isEqualTo(false);
        }
        assertThat(backOff.nanosToEnd()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void pausesAllSemaphoresOfABatchUntilTheSameInstant() {
        for (int i = 0; i < 3; i++) {
            backOff.conflict(List.of("other"));
        }
        backOff.conflict(List.of(NAME, "other"));

        assertThat(backOff.isPaused(NAMES)).isEqualTo(true);
        assertThat(backOff.isPaused(List.of("third"))).isEqualTo(false);
        awaitEnd();
        assertThat(backOff.isPaused(List.of("other"))).isEqualTo(false);
    }

    @Test
    void pausesLongerAfterSeveralConflictsButAtMostForATimeSlice() {
        long longest = 0;
        for (int i = 0; i < 1_000; i++) {
            backOff.conflict(NAMES);
            longest = Math.max(longest, backOff.nanosToEnd());
        }

        assertThat(Duration.ofNanos(longest)).isBetween(Duration.ofMillis(11), SLICE);
    }

    @Test
    void leavesAContestedSemaphoreToOthersAfterATimeSlice() {
        backOff.conflict(NAMES);
        awaitEnd();
        grant();
        assertThat(backOff.isPaused(NAMES)).as("after one grant").isEqualTo(false);

        soon().until(() -> {
            grant();
            return backOff.isPaused(NAMES);
        });

        assertThat(Duration.ofNanos(backOff.nanosToEnd())).isBetween(SLICE.dividedBy(2), SLICE.multipliedBy(2));
        awaitEnd();
        grant();
        assertThat(backOff.isPaused(NAMES)).as("in the next time slice").isEqualTo(false);
    }

    @Test
    void doesNotTakeTurnsOnASingleServer() {
        ConflictBackOff single = new ConflictBackOff(false, QueueClock.SYSTEM);
        single.conflict(NAMES);
        soon().until(() -> {
            single.endPauses();
            return !single.isPaused(NAMES);
        });
        for (long start = System.nanoTime(); System.nanoTime() - start < 2 * SLICE.toNanos(); ) {
            single.committed(NAME, Values.remaining(1, 0, 1, fence, ++fence));

            assertThat(single.isPaused(NAMES)).isEqualTo(false);
        }
    }

    @Test
    void endsAfterSomeTimeWithoutConflict() {
        backOff.conflict(NAMES);
        awaitEnd();
        for (long start = System.nanoTime();
                System.nanoTime() - start < Duration.ofMillis(2_100).toNanos(); ) {
            grant();
        }
        awaitEnd();

        for (long start = System.nanoTime(); System.nanoTime() - start < 2 * SLICE.toNanos(); ) {
            grant();

            assertThat(backOff.isPaused(NAMES)).isEqualTo(false);
        }
    }

    private void grant() {
        backOff.committed(NAME, Values.remaining(1, 0, 1, fence, ++fence));
    }

    private void awaitEnd() {
        soon().until(() -> {
            backOff.endPauses();
            return !backOff.isPaused(NAMES);
        });
    }

    /** Polls far more often than time slices end. */
    private static ConditionFactory soon() {
        return Awaitility.await()
                .atMost(Duration.ofSeconds(2))
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(1));
    }
}
