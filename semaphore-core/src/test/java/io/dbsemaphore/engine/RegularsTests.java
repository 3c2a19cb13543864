package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RegularsTests {

    private static final Duration LONG = Duration.ofHours(1);
    private static final Duration MOMENT = Duration.ofMillis(300);

    @Test
    void areNotAwaitedWhereNobodyLeft() {
        assertThat(await(new Regulars(LONG), LONG)).isLessThan(LONG);
    }

    @Test
    void areAwaitedUntilAllAreBack() {
        Regulars regulars = new Regulars(LONG);
        regulars.leave(1);
        regulars.leave(2);
        regulars.come();

        CompletableFuture<Void> last = CompletableFuture.runAsync(
                () -> {
                    regulars.come();
                    regulars.come();
                },
                CompletableFuture.delayedExecutor(MOMENT.toMillis(), TimeUnit.MILLISECONDS));

        assertThat(await(regulars, LONG)).isGreaterThan(MOMENT.dividedBy(2)).isLessThan(LONG.dividedBy(20));
        last.join();
    }

    @Test
    void areAwaitedForATenthOfTheirRound() {
        Regulars regulars = new Regulars(LONG);
        regulars.leave(4);

        assertThat(await(regulars, MOMENT.multipliedBy(10)))
                .isGreaterThanOrEqualTo(MOMENT)
                .isLessThan(MOMENT.multipliedBy(10));
    }

    @Test
    void areAwaitedNoLongerThanTheLimit() {
        Regulars regulars = new Regulars(MOMENT);
        regulars.leave(4);

        assertThat(await(regulars, LONG)).isGreaterThanOrEqualTo(MOMENT).isLessThan(LONG.dividedBy(20));
    }

    @Test
    void areNotAwaitedForAWhileAfterTheyDidNotComeBack() {
        Regulars regulars = new Regulars(MOMENT);
        regulars.leave(8);
        regulars.come();
        await(regulars, LONG);

        Duration rest = Duration.ZERO;
        for (int round = 0; round < 8; round++) {
            regulars.leave(8);
            rest = rest.plus(await(regulars, LONG));
        }
        regulars.leave(8);

        assertThat(rest).isLessThan(MOMENT);
        assertThat(await(regulars, LONG)).isGreaterThanOrEqualTo(MOMENT);
    }

    @Test
    void areAwaitedAgainAfterMostCame() {
        Regulars regulars = new Regulars(MOMENT);
        regulars.leave(9);
        for (int i = 0; i < 7; i++) {
            regulars.come();
        }
        await(regulars, LONG);
        regulars.leave(9);

        assertThat(await(regulars, LONG)).isGreaterThanOrEqualTo(MOMENT);
    }

    private static Duration await(Regulars regulars, Duration round) {
        long begin = System.nanoTime();
        regulars.await(round);
        return Duration.ofNanos(System.nanoTime() - begin);
    }
}
