package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class ConflictBackOffTests {

    private static final String NAME = "backup";
    private static final List<String> NAMES = List.of(NAME);
    private static final Duration SLICE = Duration.ofMillis(50);
    private static final long STEP = Duration.ofMillis(1).toNanos();

    private long now;
    private long fence;
    private final QueueClock clock = new QueueClock(() -> now, QueueClock.SYSTEM.random());
    private final ConflictBackOff backOff = new ConflictBackOff(true, clock);

    @Test
    void doesNothingWithoutAConflict() {
        during(SLICE.multipliedBy(2), () -> {
            grant();

            assertThat(backOff.isPaused(NAMES)).isEqualTo(false);
        });
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

        soon(() -> {
            grant();
            return backOff.isPaused(NAMES);
        });

        assertThat(Duration.ofNanos(backOff.nanosToEnd())).isBetween(SLICE, SLICE.multipliedBy(2));
        awaitEnd();
        grant();
        assertThat(backOff.isPaused(NAMES)).as("in the next time slice").isEqualTo(false);
    }

    @Test
    void doesNotTakeTurnsOnASingleServer() {
        ConflictBackOff single = new ConflictBackOff(false, clock);
        single.conflict(NAMES);
        soon(() -> !single.isPaused(NAMES));
        during(SLICE.multipliedBy(2), () -> {
            single.committed(NAME, Values.remaining(1, 0, 1, fence, ++fence));

            assertThat(single.isPaused(NAMES)).isEqualTo(false);
        });
    }

    @Test
    void endsAfterSomeTimeWithoutConflict() {
        backOff.conflict(NAMES);
        awaitEnd();
        during(Duration.ofMillis(2_100), this::grant);
        awaitEnd();

        during(SLICE.multipliedBy(2), () -> {
            grant();

            assertThat(backOff.isPaused(NAMES)).isEqualTo(false);
        });
    }

    private void grant() {
        backOff.committed(NAME, Values.remaining(1, 0, 1, fence, ++fence));
    }

    private void awaitEnd() {
        soon(() -> !backOff.isPaused(NAMES));
    }

    /** Lets time pass until the condition holds. */
    private void soon(BooleanSupplier condition) {
        long end = now + Duration.ofSeconds(2).toNanos();
        while (!condition.getAsBoolean()) {
            now += STEP;
            assertThat(now).as("the time").isLessThan(end);
        }
    }

    /** Lets time pass, and does this again and again. */
    private void during(Duration duration, Runnable task) {
        for (long end = now + duration.toNanos(); now < end; now += STEP) {
            task.run();
        }
    }
}
