package io.dbsemaphore.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ConcurrentlyTests {

    private static final Duration DEADLINE = Duration.ofSeconds(20);

    @Test
    void runsAllAtOnceAndReturnsResultsInOrder() {
        CyclicBarrier together = new CyclicBarrier(8);
        PeakCounter inside = new PeakCounter();

        List<Integer> results = Concurrently.call(8, DEADLINE, index -> {
            inside.enter();
            together.await(10, TimeUnit.SECONDS);
            inside.leave();
            return index * index;
        });

        assertThat(results).containsExactly(0, 1, 4, 9, 16, 25, 36, 49);
        assertThat(inside.peak()).isEqualTo(8);
        assertThat(inside.current()).isZero();
    }

    @Test
    void throwsTheFirstFailureWithTheOthersSuppressed() {
        assertThatThrownBy(() -> Concurrently.run(3, DEADLINE, index -> {
                    throw new IllegalArgumentException("number " + index);
                }))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("number 0")
                .satisfies(first -> assertThat(first.getSuppressed())
                        .extracting(Throwable::getMessage)
                        .containsExactly("number 1", "number 2"));
    }

    @Test
    void failsAtTheDeadlineAndShowsWhereTasksAre() {
        CountDownLatch never = new CountDownLatch(1);

        assertThatThrownBy(() -> Concurrently.run(2, Duration.ofSeconds(1), index -> {
                    if (index == 1) {
                        never.await();
                    }
                }))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("1 of 2")
                .hasMessageContaining("CountDownLatch.await");
    }

    @Test
    void leavingWithoutHavingEnteredIsAFailure() {
        assertThatThrownBy(() -> new PeakCounter().leave()).isInstanceOf(IllegalStateException.class);
    }
}
