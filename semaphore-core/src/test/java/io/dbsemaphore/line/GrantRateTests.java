package io.dbsemaphore.line;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Random;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The expected wait is that of as many grants at the rate of the last ten to twenty seconds. */
class GrantRateTests {

    /** Between two grants, in nanoseconds. */
    private static final double MEAN = 100_000_000;

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
    void isLowerWhileNothingIsGrantedAfterManyGrants() {
        for (int second = 0; second <= 15; second++) {
            rate.read(100L * second, seconds(second));
        }
        for (int second = 16; second <= 35; second++) { // a window without grants begins after 22 seconds
            rate.read(1_500, seconds(second));
        }
        assertThat(rate.timeOf(1, seconds(35))).contains(Duration.ofSeconds(13));
    }

    @Test
    void isUnknownAfterTheFenceOfAnotherSemaphoreOfTheSameName() {
        rate.read(0, seconds(0));
        rate.read(10, seconds(1));
        rate.read(1_700_000_000_000_000L, seconds(2));
        assertThat(rate.timeOf(1, seconds(2))).isEmpty();
    }

    /** Holds that vary as much as their mean, as those of independent jobs do: the root of the mean square is 1 ÷ √n. */
    @ParameterizedTest
    @ValueSource(ints = {1, 4, 16, 64})
    void isOffByOneOverTheRootOfTheCallersAhead(int ahead) {
        Random random = new Random(7);
        double squares = 0;
        int runs = 2_000;
        for (int run = 0; run < runs; run++) {
            GrantRate measured = new GrantRate();
            double now = 0;
            for (int fence = 0; fence < 250; fence++) { // the last two windows have 100 to 200 of them
                measured.read(fence, (long) now);
                now += interval(random);
            }
            long readAt = (long) now;
            measured.read(250, readAt);
            double wait = 0;
            for (int i = 0; i < ahead; i++) {
                wait += interval(random);
            }
            double expected = measured.timeOf(ahead, readAt).orElseThrow().toNanos();
            squares += Math.pow((expected - wait) / (ahead * MEAN), 2);
        }
        assertThat(Math.sqrt(squares / runs)).isCloseTo(1 / Math.sqrt(ahead), Percentage.withPercentage(35));
    }

    private static double interval(Random random) {
        return -Math.log(1 - random.nextDouble()) * MEAN;
    }

    private static long seconds(long seconds) {
        return Duration.ofSeconds(seconds).toNanos();
    }
}
