package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.concurrent.DaemonThreads;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CompletionExecutorTests {

    private static final Duration SOON = Duration.ofSeconds(20);

    private final Threads threads = new Threads();
    private final CompletionExecutor completions =
            new CompletionExecutor(threads, Duration.ofHours(1), System::nanoTime);
    private final CountDownLatch release = new CountDownLatch(1);
    private final AtomicInteger done = new AtomicInteger();
    private final Set<Thread> ranOn = ConcurrentHashMap.newKeySet();

    @AfterEach
    void close() {
        release.countDown();
        completions.close();
    }

    /** As long as no task takes 10 ms there are as many threads as processors, at least two, and one that watches them. */
    @Test
    void runManyShortTasksOnFewThreads() {
        for (int i = 0; i < 20_000; i++) {
            completions.execute(this::run);
        }

        awaitDone(20_000);
        assertThat(ranOn).doesNotContain(Thread.currentThread());
        assertThat(threads.started).hasValueLessThan(100);
    }

    /** Longer tasks, since a thread may be done with a short one before the next thread runs. */
    @Test
    void runManyTasksThatComputeOnFewThreads() {
        for (int i = 0; i < 500; i++) {
            completions.execute(this::compute);
        }

        awaitDone(500);
        assertThat(threads.started).as("threads for 500 tasks").hasValueLessThan(100);
    }

    @Test
    void runOthersBesideTasksThatBlock() {
        for (int i = 0; i < 20; i++) {
            completions.execute(this::block);
        }
        completions.execute(this::run);

        awaitDone(1);
        assertThat(threads.started).hasValueLessThanOrEqualTo(22);
        release.countDown();
        awaitDone(21);
    }

    @Test
    void surviveErrors() {
        for (int i = 0; i < 100; i++) {
            completions.execute(() -> {
                run();
                throw new NoClassDefFoundError("a callback that does not link");
            });
        }
        completions.execute(this::run);

        awaitDone(101);
        assertThat(ranOn).doesNotContain(Thread.currentThread());
    }

    @Test
    void doNotKeepAnInterruptForTheNextTask() {
        AtomicInteger interrupted = new AtomicInteger();
        for (int i = 0; i < 100; i++) {
            completions.execute(() -> {
                interrupted.addAndGet(Thread.currentThread().isInterrupted() ? 1 : 0);
                Thread.currentThread().interrupt();
                done.incrementAndGet();
            });
        }

        awaitDone(100);
        assertThat(interrupted).hasValue(0);
    }

    /** Better on the thread that decides than never. */
    @Test
    void runTasksOnTheCallersThreadWhereNoThreadCanBeStarted() {
        threads.none = true;

        completions.execute(this::run);
        completions.execute(this::run);

        assertThat(done).hasValue(2);
        assertThat(ranOn).containsExactly(Thread.currentThread());
    }

    @Test
    void leaveNothingBehindWhereNoFurtherThreadCanBeStarted() throws InterruptedException {
        CountDownLatch running = new CountDownLatch(1);
        completions.execute(() -> {
            running.countDown();
            block();
        });
        assertThat(running.await(20, TimeUnit.SECONDS)).as("running").isTrue();
        threads.none = true;
        for (int i = 0; i < 10; i++) {
            completions.execute(this::run);
        }

        release.countDown();

        awaitDone(11);
        assertThat(ranOn).doesNotContain(Thread.currentThread());
    }

    /** Whatever the creation of a thread throws. */
    @Test
    void runTasksOnTheCallersThreadWhereTheCreationOfAThreadFails() {
        threads.failFrom = 1;

        completions.execute(this::run);
        completions.execute(this::run);

        assertThat(done).hasValue(2);
        assertThat(ranOn).containsExactly(Thread.currentThread());
    }

    /** The first thread tries to start the second, and must survive its failure. */
    @Test
    void runAllTasksOnOneThreadWhereTheCreationOfTheSecondFails() {
        threads.failFrom = 2;
        for (int i = 0; i < 20; i++) {
            completions.execute(this::run);
        }

        awaitDone(20);
        assertThat(ranOn).hasSize(1).doesNotContain(Thread.currentThread());
    }

    /** As an {@link OutOfMemoryError} may come at any time. A thread reads the clock three times to begin a task. */
    @Test
    void runAllTasksAlthoughThreadsFailBetweenThem() {
        AtomicInteger reads = new AtomicInteger();
        LongSupplier clock = () -> {
            if (reads.incrementAndGet() % 5 == 0) {
                throw new InternalError("on purpose"); // an OutOfMemoryError that gets out would end the test run
            }
            return System.nanoTime();
        };
        try (CompletionExecutor failing = new CompletionExecutor(threads, Duration.ofHours(1), clock)) {
            for (int i = 0; i < 50; i++) {
                failing.execute(this::run);
            }

            awaitDone(50);
            failing.execute(this::run);
            awaitDone(51);
        }
        assertThat(reads).hasValueGreaterThan(50);
        assertThat(ranOn).doesNotContain(Thread.currentThread());
    }

    @Test
    void useThreadsAgainOnceThereAreSome() {
        threads.none = true;
        completions.execute(this::run);
        threads.none = false;

        completions.execute(this::run);

        awaitDone(2);
        assertThat(ranOn).hasSize(2);
    }

    @Test
    void endWhenClosedAndAllIsDone() {
        completions.execute(this::block);
        completions.execute(this::run);

        completions.close();
        release.countDown();

        awaitDone(2);
        Awaitility.await("their end").atMost(SOON).until(() -> ranOn.stream().noneMatch(Thread::isAlive));
    }

    @Test
    void doWhatIsQueuedWhenClosed() throws InterruptedException {
        CountDownLatch running = new CountDownLatch(1);
        completions.execute(() -> {
            running.countDown();
            block();
        });
        assertThat(running.await(20, TimeUnit.SECONDS)).as("running").isTrue();
        threads.none = true; // so that the others stay queued
        for (int i = 0; i < 10; i++) {
            completions.execute(this::run);
        }

        completions.close();
        release.countDown();

        awaitDone(11);
    }

    @Test
    void endWhenIdle() {
        try (CompletionExecutor brief = new CompletionExecutor(threads, Duration.ofMillis(50), System::nanoTime)) {
            brief.execute(this::run);

            awaitDone(1);
            Awaitility.await("their end")
                    .atMost(SOON)
                    .until(() -> ranOn.stream().noneMatch(Thread::isAlive));
        }
    }

    private void run() {
        ranOn.add(Thread.currentThread());
        done.incrementAndGet();
    }

    private void compute() {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(1);
        while (System.nanoTime() < end) {
            Thread.onSpinWait();
        }
        run();
    }

    private void block() {
        try {
            release.await();
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
        run();
    }

    private void awaitDone(int tasks) {
        Awaitility.await("all tasks")
                .atMost(SOON)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> done.get() == tasks);
    }

    /** Counts the threads that are started, of which there may be none. */
    private static final class Threads extends DaemonThreads {

        private final AtomicInteger started = new AtomicInteger();
        private volatile boolean none;
        private volatile int failFrom = Integer.MAX_VALUE;

        @Override
        public Thread create(String name, Runnable task) {
            if (none) {
                throw new InternalError("no thread");
            }
            if (started.incrementAndGet() >= failFrom) {
                throw new IllegalStateException("no thread from the " + failFrom + ". on");
            }
            return super.create(name, task);
        }
    }
}
