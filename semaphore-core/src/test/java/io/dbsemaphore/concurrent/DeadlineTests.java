package io.dbsemaphore.concurrent;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class DeadlineTests {

    private static final Deadline AT_100 = new Deadline(100, false);
    private static final Deadline AT_200 = new Deadline(200, false);

    @Test
    void isForEverIfItDoesNotFitIntoTheClock() {
        assertThat(Deadline.after(1, Duration.ofDays(36_501))).isEqualTo(Deadline.NEVER);
        assertThat(Deadline.after(1, Duration.ofDays(36_500)).never()).isFalse();
        assertThat(Deadline.after(1, Duration.ofNanos(99))).isEqualTo(AT_100);
    }

    @Test
    void comesBeforeALaterOneAndBeforeNever() {
        assertThat(AT_100.compareTo(AT_200)).isNegative();
        assertThat(AT_200.compareTo(AT_100)).isPositive();
        assertThat(AT_100.compareTo(new Deadline(100, false))).isZero();
        assertThat(AT_200.compareTo(Deadline.NEVER)).isNegative();
        assertThat(Deadline.NEVER.compareTo(AT_200)).isPositive();
        assertThat(Deadline.NEVER.compareTo(new Deadline(7, true))).isZero();
    }

    @Test
    void comesBeforeALaterOneAlsoWhereTheClockOverflows() {
        Deadline before = new Deadline(Long.MAX_VALUE, false);
        Deadline after = new Deadline(Long.MIN_VALUE + 5, false);
        assertThat(before.compareTo(after)).isNegative();
        assertThat(after.remainingNanos(Long.MAX_VALUE)).isEqualTo(6);
    }

    @Test
    void isReplacedByAnEarlierOneOnly() {
        assertThat(AT_100.orEarlier(AT_200)).isSameAs(AT_100);
        assertThat(AT_200.orEarlier(AT_100)).isSameAs(AT_100);
        assertThat(AT_100.orEarlier(new Deadline(100, false))).isSameAs(AT_100);
        assertThat(Deadline.NEVER.orEarlier(AT_200)).isSameAs(AT_200);
    }

    @Test
    void isRoundedDownToAMultipleOfTheStep() {
        assertThat(AT_200.roundedDown(Duration.ofNanos(150))).isEqualTo(new Deadline(150, false));
        assertThat(AT_200.roundedDown(Duration.ofNanos(100))).isEqualTo(AT_200);
        assertThat(Deadline.NEVER.roundedDown(Duration.ofNanos(100))).isEqualTo(Deadline.NEVER);
    }

    @Test
    void isPassedWhenNothingRemains() {
        assertThat(AT_200.remainingNanos(150)).isEqualTo(50);
        assertThat(Deadline.NEVER.remainingNanos(150)).isEqualTo(Long.MAX_VALUE);
        assertThat(Deadline.in(Duration.ofHours(1)).isPassed()).isFalse();
        assertThat(Deadline.in(Duration.ZERO).isPassed()).isTrue();
        assertThat(Deadline.NEVER.isPassed()).isFalse();
        assertThat(Deadline.in(Duration.ofHours(1)).remainingNanos())
                .isBetween(1L, Duration.ofHours(1).toNanos());
    }
}
