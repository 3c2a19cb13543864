package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class GroupCommitDelayTests {

    private static final Duration LONG = Duration.ofHours(1);
    private static final Duration MOMENT = Duration.ofMillis(300);

    @Test
    void areNotAwaitedWhereNobodyLeft() {
        assertThat(await(new GroupCommitDelay(LONG), LONG)).isLessThan(LONG);
    }

    @Test
    void areAwaitedUntilAllAreBack() {
        GroupCommitDelay groupCommitDelay = new GroupCommitDelay(LONG);
        groupCommitDelay.answered(1);
        groupCommitDelay.answered(2);
        groupCommitDelay.arrived();

        CompletableFuture<Void> last = CompletableFuture.runAsync(
                () -> {
                    groupCommitDelay.arrived();
                    groupCommitDelay.arrived();
                },
                CompletableFuture.delayedExecutor(MOMENT.toMillis(), TimeUnit.MILLISECONDS));

        assertThat(await(groupCommitDelay, LONG))
                .isGreaterThan(MOMENT.dividedBy(2))
                .isLessThan(LONG.dividedBy(20));
        last.join();
    }

    @Test
    void areAwaitedForATenthOfTheirRound() {
        GroupCommitDelay groupCommitDelay = new GroupCommitDelay(LONG);
        groupCommitDelay.answered(4);

        assertThat(await(groupCommitDelay, MOMENT.multipliedBy(10)))
                .isGreaterThanOrEqualTo(MOMENT)
                .isLessThan(MOMENT.multipliedBy(10));
    }

    @Test
    void areAwaitedNoLongerThanTheLimit() {
        GroupCommitDelay groupCommitDelay = new GroupCommitDelay(MOMENT);
        groupCommitDelay.answered(4);

        assertThat(await(groupCommitDelay, LONG)).isGreaterThanOrEqualTo(MOMENT).isLessThan(LONG.dividedBy(20));
    }

    @Test
    void areNotAwaitedForAWhileAfterTheyDidNotComeBack() {
        GroupCommitDelay groupCommitDelay = new GroupCommitDelay(MOMENT);
        groupCommitDelay.answered(8);
        groupCommitDelay.arrived();
        await(groupCommitDelay, LONG);

        Duration rest = Duration.ZERO;
        for (int batch = 0; batch < 8; batch++) {
            groupCommitDelay.answered(8);
            rest = rest.plus(await(groupCommitDelay, LONG));
        }
        groupCommitDelay.answered(8);

        assertThat(rest).isLessThan(MOMENT);
        assertThat(await(groupCommitDelay, LONG)).isGreaterThanOrEqualTo(MOMENT);
    }

    @Test
    void areAwaitedAgainAfterMostCame() {
        GroupCommitDelay groupCommitDelay = new GroupCommitDelay(MOMENT);
        groupCommitDelay.answered(9);
        for (int i = 0; i < 7; i++) {
            groupCommitDelay.arrived();
        }
        await(groupCommitDelay, LONG);
        groupCommitDelay.answered(9);

        assertThat(await(groupCommitDelay, LONG)).isGreaterThanOrEqualTo(MOMENT);
    }

    private static Duration await(GroupCommitDelay groupCommitDelay, Duration batch) {
        long begin = System.nanoTime();
        groupCommitDelay.await(batch);
        return Duration.ofNanos(System.nanoTime() - begin);
    }
}
