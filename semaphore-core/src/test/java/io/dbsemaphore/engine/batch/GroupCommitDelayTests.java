package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class GroupCommitDelayTests {

    private static final Duration LONG = Duration.ofHours(1);
    private static final Duration SHORT = Duration.ofMillis(300);

    @Test
    void doesNotWaitWithoutAnsweredCallers() {
        assertThat(await(new GroupCommitDelay(LONG), LONG)).isLessThan(LONG);
    }

    @Test
    void endsWhenAllCallersHaveReturned() {
        GroupCommitDelay delay = new GroupCommitDelay(LONG);
        delay.answered(1);
        delay.answered(2);
        delay.arrived();

        long begin = System.nanoTime();
        CompletableFuture<Void> last = CompletableFuture.runAsync(
                () -> {
                    delay.arrived();
                    delay.arrived();
                },
                CompletableFuture.delayedExecutor(SHORT.toMillis(), TimeUnit.MILLISECONDS));

        delay.await(LONG);
        assertThat(since(begin)).isGreaterThan(SHORT.dividedBy(2)).isLessThan(LONG.dividedBy(20));
        last.join();
    }

    @Test
    void isLimitedToATenthOfTheBatch() {
        GroupCommitDelay delay = new GroupCommitDelay(LONG);
        delay.answered(4);

        assertThat(await(delay, SHORT.multipliedBy(10)))
                .isGreaterThanOrEqualTo(SHORT)
                .isLessThan(SHORT.multipliedBy(10));
    }

    @Test
    void isLimitedToTheMaximum() {
        GroupCommitDelay delay = new GroupCommitDelay(SHORT);
        delay.answered(4);

        assertThat(await(delay, LONG)).isGreaterThanOrEqualTo(SHORT).isLessThan(LONG.dividedBy(20));
    }

    @Test
    void isSkippedForSomeBatchesAfterCallersDidNotReturn() {
        GroupCommitDelay delay = new GroupCommitDelay(SHORT);
        delay.answered(8);
        delay.arrived();
        await(delay, LONG);

        Duration rest = Duration.ZERO;
        for (int batch = 0; batch < 8; batch++) {
            delay.answered(8);
            rest = rest.plus(await(delay, LONG));
        }
        delay.answered(8);

        assertThat(rest).isLessThan(SHORT);
        assertThat(await(delay, LONG)).isGreaterThanOrEqualTo(SHORT);
    }

    @Test
    void isNotSkippedWhenMostCallersReturned() {
        GroupCommitDelay delay = new GroupCommitDelay(SHORT);
        delay.answered(9);
        for (int i = 0; i < 7; i++) {
            delay.arrived();
        }
        await(delay, LONG);
        delay.answered(9);

        assertThat(await(delay, LONG)).isGreaterThanOrEqualTo(SHORT);
    }

    private static Duration await(GroupCommitDelay delay, Duration batch) {
        long begin = System.nanoTime();
        delay.await(batch);
        return since(begin);
    }

    private static Duration since(long begin) {
        return Duration.ofNanos(System.nanoTime() - begin);
    }
}
