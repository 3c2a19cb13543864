package io.dbsemaphore.concurrent;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The pauses grow up to the maximum, and vary by the jitter. */
class BackOffTests {

    @Test
    void growsByTheFactorUpToTheMaximum() {
        BackOff backOff = new BackOff(Duration.ofMillis(100), 2, Duration.ofMillis(350), 0);

        assertThat(backOff.after(1)).hasMillis(100);
        assertThat(backOff.after(2)).hasMillis(200);
        assertThat(backOff.after(3)).hasMillis(350);
        assertThat(backOff.after(10_000)).hasMillis(350);
    }

    @Test
    void variesByTheJitter() {
        BackOff backOff = new BackOff(Duration.ofMillis(100), 2, Duration.ofMillis(200), 0.25);

        assertThat(backOff.after(1, BackOffTests::lowest)).hasMillis(75);
        assertThat(backOff.after(1, BackOffTests::highest)).isBetween(Duration.ofMillis(124), Duration.ofMillis(125));
        assertThat(backOff.after(2, BackOffTests::lowest)).hasMillis(150);
    }

    @Test
    void withFullJitterBeginsAtZero() {
        BackOff backOff = new BackOff(Duration.ofMillis(5), 2, Duration.ofMillis(20), 1);

        assertThat(backOff.after(1, BackOffTests::lowest)).isZero();
        assertThat(backOff.after(1, BackOffTests::highest)).isLessThan(Duration.ofMillis(10));
    }

    private static long lowest(long bound) {
        return 0;
    }

    private static long highest(long bound) {
        return bound - 1;
    }
}
