package io.dbsemaphore.line;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The expected wait is that of as many grants at the rate since callers have waited. */
class GrantRateTests {

    private final GrantRate rate = new GrantRate();

    @Test
    void isUnknownUntilThreeGrantsAreCounted() {
        rate.read(40, seconds(0));
        rate.read(42, seconds(2));
        assertThat(rate.timeOf(1, seconds(2))).isEmpty();

        rate.read(43, seconds(3));
        assertThat(rate.timeOf(1, seconds(3))).contains(Duration.ofSeconds(1));
        assertThat(rate.timeOf(5, seconds(3))).contains(Duration.ofSeconds(5));
    }

    @Test
    void followsALowerRateAfterAWindow() {
        rate.read(0, seconds(0));
        rate.read(11, seconds(11));
        rate.read(13, seconds(13));
        assertThat(rate.timeOf(1, seconds(13))).as("of the first window").contains(Duration.ofSeconds(1));

        rate.read(14, seconds(26));
        assertThat(rate.timeOf(1, seconds(26))).contains(Duration.ofSeconds(5));
    }

    @Test
    void beginsAnewOnAServerThatLacksGrants() {
        rate.read(100, seconds(0));
        rate.read(90, seconds(1));
        assertThat(rate.timeOf(1, seconds(1))).isEmpty();
        rate.read(93, seconds(4));
        assertThat(rate.timeOf(1, seconds(4))).contains(Duration.ofSeconds(1));
    }

    @Test
    void isLowerWhileTheNextGrantIsLate() {
        rate.read(0, seconds(0));
        rate.read(10, seconds(1));
        assertThat(rate.timeOf(1, seconds(1))).contains(Duration.ofMillis(100));
        assertThat(rate.timeOf(1, seconds(22))).contains(Duration.ofSeconds(2));
    }

    @Test
    void isUnknownAfterTheFenceOfAnotherSemaphoreOfTheSameName() {
        rate.read(0, seconds(0));
        rate.read(10, seconds(1));
        rate.read(1_700_000_000_000_000L, seconds(2));
        assertThat(rate.timeOf(1, seconds(2))).isEmpty();
    }

    private static long seconds(long seconds) {
        return Duration.ofSeconds(seconds).toNanos();
    }
}
