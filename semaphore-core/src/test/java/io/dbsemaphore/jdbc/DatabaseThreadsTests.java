package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.concurrent.DaemonThreads;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DatabaseThreadsTests {

    private final List<Thread> created = new CopyOnWriteArrayList<>();
    private final DatabaseThreads threads = threads(4);
    private final CountDownLatch goOn = new CountDownLatch(1);

    private DatabaseThreads threads(int maxConnections) {
        return new DatabaseThreads(maxConnections, new DaemonThreads() {
            @Override
            public Thread create(String name, Runnable task) {
                Thread thread = super.create(name, task);
                created.add(thread);
                return thread;
            }
        });
    }

    @AfterEach
    void end() {
        goOn.countDown();
        threads.stop();
    }

    @Test
    void areAsManyAsConnectionsButThatOfTheKeepAlive() {
        threads.start();

        assertThat(created)
                .extracting(Thread::getName)
                .containsExactly("semaphore-database-1", "semaphore-database-2", "semaphore-database-3");
        assertThat(created).allMatch(Thread::isAlive);
    }

    @Test
    void areAtLeastTwo() {
        threads(1).start();
        threads(2).start();

        assertThat(created).hasSize(2 + 2);
    }

    @Test
    void doAsMuchAtOnceAsThereAreThreads() throws InterruptedException {
        threads.start();
        occupyAll();
        AtomicInteger done = new AtomicInteger();
        threads.execute(done::incrementAndGet);

        assertThat(done).hasValue(0);
        goOn.countDown();
        await().until(() -> done.get() == 1);
    }

    @Test
    void beginWorkInItsOrder() throws InterruptedException {
        threads.start();
        occupyAll();
        List<Integer> begun = new CopyOnWriteArrayList<>();
        assertThat(threads.areBusy()).isFalse();
        for (int i = 0; i < 3; i++) {
            int number = i;
            threads.execute(() -> begun.add(number));
        }
        assertThat(threads.areBusy()).isTrue();
        Future<?> later =
                threads.schedule(() -> begun.add(3), Duration.ofMillis(500).toNanos());
        goOn.countDown();

        await().until(later::isDone);
        assertThat(begun).hasSize(4).endsWith(3);
    }

    @Test
    void endWhenTheyWereIdleForASecondUnlessTheyWereStarted() {
        threads.call(() -> "");
        assertThat(created).hasSize(1).allMatch(Thread::isAlive);

        await("the end of an idle one")
                .atMost(Duration.ofSeconds(10))
                .until(() -> !created.get(0).isAlive());

        threads.start();
        threads.stop();
        await("the end after the stop")
                .atMost(Duration.ofSeconds(10))
                .until(() -> created.stream().noneMatch(Thread::isAlive));
        assertThat(threads.<String>call(() -> "done after the stop")).isEqualTo("done after the stop");
    }

    @Test
    void survivesWhatATaskThrows() {
        DatabaseThreads one = threads(1);
        one.start();
        one.execute(() -> {
            throw new StackOverflowError("of a task, to be survived");
        });

        assertThat(one.<String>call(() -> "alive")).isEqualTo("alive");
        assertThat(created).hasSize(2);
        assertThatIllegalStateException()
                .isThrownBy(() -> one.call(() -> {
                    throw new IllegalStateException("of the task");
                }))
                .withMessage("of the task");
    }

    @Test
    void workOnOneOfThemIsDoneThere() {
        DatabaseThreads one = threads(1);

        assertThat(one.<String>call(() -> one.call(() -> "within"))).isEqualTo("within");
    }

    @Test
    void aCrowdOfCallersDelaysOtherWorkByOneCallOnly() throws InterruptedException {
        threads.start();
        occupyAll();
        List<String> begun = new CopyOnWriteArrayList<>();
        CountDownLatch batch = new CountDownLatch(1);
        List<Thread> crowd = IntStream.range(0, 30)
                .mapToObj(i -> new Thread(() -> threads.call(() -> {
                    begun.add("call");
                    if (begun.size() > 6) { // another thread has taken the batch, but may not have begun it
                        waitFor(batch);
                    }
                    return "";
                })))
                .toList();
        crowd.forEach(Thread::start);
        await("the callers").until(() -> crowd.stream().allMatch(each -> each.getState() == Thread.State.WAITING));

        threads.execute(() -> {
            begun.add("batch");
            batch.countDown();
        });
        goOn.countDown();

        await().until(() -> begun.size() == 31);
        assertThat(begun.indexOf("batch")).as("calls before it").isLessThan(3 + 3 + 3);
        assertThat(begun).containsOnlyOnce("batch");
    }

    private void occupyAll() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(3);
        for (int i = 0; i < 3; i++) {
            threads.execute(() -> {
                begun.countDown();
                waitFor(goOn);
            });
        }
        begun.await();
    }

    private static void waitFor(CountDownLatch latch) {
        try {
            boolean unused = latch.await(20, TimeUnit.SECONDS);
        } catch (InterruptedException interrupt) {
            throw new IllegalStateException(interrupt);
        }
    }
}
