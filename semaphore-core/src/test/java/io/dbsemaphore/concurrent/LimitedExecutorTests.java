package io.dbsemaphore.concurrent;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A part of a pool cannot be occupied by the tasks of another part. */
class LimitedExecutorTests {

    private static final long LONG = 10;

    private final ThreadPoolExecutor pool = new DaemonThreads().cachedPool("part", Duration.ofSeconds(1));
    private final CountDownLatch end = new CountDownLatch(1);

    @AfterEach
    void shutDown() {
        end.countDown();
        pool.shutdownNow();
    }

    @Test
    void blockedTasksOfOnePartLeaveThreadsToAnother() throws InterruptedException {
        LimitedExecutor blocked = new LimitedExecutor(pool, 3);
        LimitedExecutor other = new LimitedExecutor(pool, 1);
        for (int i = 0; i < 100; i++) {
            blocked.execute(this::block);
        }
        BlockingQueue<String> done = new ArrayBlockingQueue<>(1);

        other.execute(() -> done.add("other"));

        assertThat(done.poll(LONG, TimeUnit.SECONDS)).isEqualTo("other");
        assertThat(pool.getPoolSize()).as("threads").isLessThanOrEqualTo(4);
    }

    @Test
    void noMoreRunAtATimeAndAllRunInTheirOrder() throws InterruptedException {
        LimitedExecutor one = new LimitedExecutor(pool, 1);
        Queue<Integer> order = new ConcurrentLinkedQueue<>();
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        CountDownLatch all = new CountDownLatch(1_000);
        for (int i = 0; i < 1_000; i++) {
            int number = i;
            one.execute(() -> {
                most.accumulateAndGet(running.incrementAndGet(), Math::max);
                order.add(number);
                running.decrementAndGet();
                all.countDown();
            });
        }

        assertThat(all.await(LONG, TimeUnit.SECONDS)).as("all have run").isTrue();
        assertThat(most).hasValue(1);
        assertThat(List.copyOf(order)).isSorted().hasSize(1_000);
    }

    @Test
    void aTaskThatThrowsLeavesItsPlaceToTheNext() throws InterruptedException {
        LimitedExecutor one = new LimitedExecutor(pool, 1);
        CountDownLatch next = new CountDownLatch(1);

        one.execute(() -> {
            throw new IllegalStateException("as expected by this test");
        });
        one.execute(next::countDown);

        assertThat(next.await(LONG, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void aTaskDoesNotGetTheInterruptOfTheOneBeforeIt() throws InterruptedException {
        LimitedExecutor one = new LimitedExecutor(pool, 1);
        BlockingQueue<Boolean> interrupted = new ArrayBlockingQueue<>(1);
        one.execute(() -> {
            block();
            Thread.currentThread().interrupt();
        });
        one.execute(() -> interrupted.add(Thread.currentThread().isInterrupted()));

        end.countDown();

        assertThat(interrupted.poll(LONG, TimeUnit.SECONDS)).isFalse();
    }

    /** What comes after the end of an engine, such as a late release, still tells its listeners. */
    @Test
    void afterTheEndOfThePoolATaskRunsOnTheThreadThatSubmitsIt() {
        pool.shutdown();
        LimitedExecutor one = new LimitedExecutor(pool, 1);
        List<Thread> threads = new ArrayList<>();

        one.execute(() -> {
            throw new IllegalStateException("as expected by this test");
        });
        one.execute(() -> threads.add(Thread.currentThread()));

        assertThat(threads).containsExactly(Thread.currentThread());
    }

    /** A stop refuses all callers that wait, and each completion is a task. */
    @Test
    void tasksThatWaitWhenThePoolEndsStillRunHoweverManyThereAre() throws InterruptedException {
        LimitedExecutor one = new LimitedExecutor(pool, 1);
        CountDownLatch all = new CountDownLatch(100_000);
        one.execute(this::block);
        for (int i = 0; i < 100_000; i++) {
            one.execute(all::countDown);
        }

        pool.shutdown();
        end.countDown();

        assertThat(all.await(LONG, TimeUnit.SECONDS)).as("all have run").isTrue();
    }

    /** Those that block may wait for those that wait. */
    @Test
    void withATimerTasksThatWaitDoNotWaitForThoseThatBlock() throws InterruptedException {
        BlockingQueue<Runnable> timer = new ArrayBlockingQueue<>(100);
        LimitedExecutor few = new LimitedExecutor(pool, 2, "tasks", timer::add);
        CountDownLatch all = new CountDownLatch(20);
        for (int i = 0; i < 20; i++) {
            few.execute(() -> {
                all.countDown();
                block();
            });
        }

        while (!all.await(1, TimeUnit.MILLISECONDS)) {
            Runnable due = timer.poll();
            if (due != null) {
                due.run();
            }
        }
        CountDownLatch last = new CountDownLatch(1);
        few.execute(last::countDown);
        few.relieve(Duration.ZERO);

        assertThat(last.await(LONG, TimeUnit.SECONDS)).isTrue();
        assertThat(pool.getPoolSize()).as("threads").isLessThanOrEqualTo(64);
    }

    @Test
    void withATimerTasksThatDoNotBlockGetNoFurtherThreads() throws InterruptedException {
        LimitedExecutor one = new LimitedExecutor(pool, 1, "tasks", task -> {});
        CountDownLatch all = new CountDownLatch(1_000);
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        for (int i = 0; i < 1_000; i++) {
            one.execute(() -> {
                most.accumulateAndGet(running.incrementAndGet(), Math::max);
                running.decrementAndGet();
                all.countDown();
            });
            one.relieve(Duration.ofHours(1));
        }

        assertThat(all.await(LONG, TimeUnit.SECONDS)).as("all have run").isTrue();
        assertThat(most).hasValue(1);
    }

    private void block() {
        try {
            end.await();
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }
}
