package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.testing.Hiccups;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Cluster;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A hundred thousand callers of one JVM come within a few seconds and wait for the same full semaphore: each is refused when
 * its wait time ends.
 */
@Slow
@Tag("alone")
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HundredThousandWaitersIntegrationTests {

    /** How far from the end of the wait time 99 of 100 answers may be, besides the time that the machine loses for all. */
    private static final Duration LATE = Duration.ofMillis(500);

    /** The same for the last answer. */
    private static final Duration LATEST = Duration.ofSeconds(2);

    /** What a waiter without a thread may keep of the heap, at most. */
    private static final long MAX_BYTES = 3_000;

    private static final int CAPACITY = 7;
    private static final int REQUESTED = 2;
    private static final Duration ARRIVAL = Duration.ofSeconds(10);

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    private final String name = cluster.semaphore(CAPACITY);
    private PermitGrant held;

    /** How long callers waited, and what they were answered. */
    private static final class Answers {

        private final Duration waitTime;
        private final Hiccups hiccups = Hiccups.measured();
        private Duration arrivedLate = Duration.ZERO;
        private final AtomicLongArray waited;
        private final AtomicReferenceArray<@Nullable Throwable> failures;
        private final CountDownLatch missing;

        Answers(int callers, Duration waitTime) {
            this.waitTime = waitTime;
            waited = new AtomicLongArray(callers);
            failures = new AtomicReferenceArray<>(callers);
            missing = new CountDownLatch(callers);
        }

        void add(int caller, long startedAt, @Nullable Throwable failure) {
            waited.set(caller, System.nanoTime() - startedAt);
            failures.set(caller, failure instanceof CompletionException wrapped ? wrapped.getCause() : failure);
            missing.countDown();
        }

        void await() throws InterruptedException {
            try (hiccups) {
                boolean unused = missing.await(120, TimeUnit.SECONDS);
            }
            assertThat(missing.getCount()).as("callers without an answer").isZero();
        }

        /** By how much later than their wait time they were answered, in milliseconds, the earliest first. */
        private long[] late() {
            return IntStream.range(0, waited.length())
                    .mapToLong(caller -> TimeUnit.NANOSECONDS.toMillis(waited.get(caller) - waitTime.toNanos()))
                    .sorted()
                    .toArray();
        }

        @Override
        public String toString() {
            long[] late = late();
            return "%d answers, late by: min %d, median %d, p99 %d, max %d ms"
                    .formatted(
                            late.length,
                            late[0],
                            late[late.length / 2],
                            late[late.length / 100 * 99],
                            late[late.length - 1]);
        }

        /** Each was answered when its wait time had ended. */
        void assertInTime() {
            long[] late = late();
            Duration lost = hiccups.worst().plus(arrivedLate);
            Measurement.check(() -> {
                assertThat(late[late.length / 100 * 99])
                        .as("99 %% of %s, with a hiccup of %s, callers late by %s", this, hiccups.worst(), arrivedLate)
                        .isLessThanOrEqualTo(LATE.plus(lost).toMillis());
                assertThat(late[late.length - 1])
                        .as(
                                "the last of %s, with a hiccup of %s, callers late by %s",
                                this, hiccups.worst(), arrivedLate)
                        .isLessThanOrEqualTo(LATEST.plus(lost).toMillis());
            });
        }

        /** Each was refused, none too early, with what is true of the semaphore. */
        void assertRefused(String name) {
            assertThat(late()[0]).as("the first of %s", this).isGreaterThanOrEqualTo(-LATE.toMillis());
            for (int caller = 0; caller < failures.length(); caller++) {
                assertThat(failures.get(caller))
                        .isInstanceOfSatisfying(
                                PermitsUnavailableException.class,
                                refusal -> assertThat(refusal.shortages())
                                        .singleElement()
                                        .satisfies(shortage -> {
                                            assertThat(shortage.name()).isEqualTo(name);
                                            assertThat(shortage.capacity()).isEqualTo(CAPACITY);
                                            assertThat(shortage.held()).isEqualTo(CAPACITY);
                                            assertThat(shortage.requested()).isEqualTo(REQUESTED);
                                        }));
            }
        }
    }

    @BeforeEach
    void fill() {
        held = cluster.node(0).semaphores().acquire(AcquireRequest.of(name).withPermits(name, CAPACITY));
    }

    @AfterEach
    void release() {
        held.release();
    }

    @Measured
    @Test
    void withoutThreadsLeaveOnTime() throws Exception {
        acquireAsync(5_000, Duration.ofMillis(1_200), Duration.ZERO).await(); // until the code is compiled
        long before = usedHeap();

        Answers answers = acquireAsync(100_000, Duration.ofSeconds(20), ARRIVAL);

        long bytes = (usedHeap() - before) / 100_000;
        answers.await();
        answers.assertRefused(name);
        assertThat(bytes).as("bytes of the heap per waiter").isLessThan(MAX_BYTES);
        answers.assertInTime();
    }

    private Answers acquireAsync(int callers, Duration waitTime, Duration arrival) {
        AcquireRequest request = request(waitTime);
        Answers answers = new Answers(callers, waitTime);
        answers.arrivedLate = arrive(callers, arrival, caller -> {
            long startedAt = System.nanoTime();
            cluster.node(0)
                    .semaphores()
                    .acquireAsync(request)
                    .whenComplete((grant, failure) -> answers.add(caller, startedAt, failure));
        });
        return answers;
    }

    @Measured
    @Test
    void onVirtualThreadsLeaveOnTime() throws Exception {
        assumeTrue(
                Runtime.version().feature() >= 21,
                "Virtual threads need Java 21 or later; this is Java "
                        + Runtime.version().feature());
        ExecutorService threads = virtualThreads();
        acquire(threads, 5_000, Duration.ofMillis(1_200), Duration.ZERO).await(); // until the code is compiled

        // more slowly than without threads: the JVM has to start, park and end each of them, beside another JVM of
        // tests
        Answers answers = acquire(threads, 66_000, Duration.ofSeconds(30), ARRIVAL.multipliedBy(2));

        answers.await();
        threads.shutdownNow();
        answers.assertRefused(name);
        answers.assertInTime();
    }

    private Answers acquire(Executor threads, int callers, Duration waitTime, Duration arrival) {
        AcquireRequest request = request(waitTime);
        Answers answers = new Answers(callers, waitTime);
        answers.arrivedLate = arrive(
                callers,
                arrival,
                caller -> threads.execute(() -> {
                    long startedAt = System.nanoTime();
                    Throwable failure = null;
                    try {
                        cluster.node(0).semaphores().acquire(request);
                    } catch (RuntimeException refused) {
                        failure = refused;
                    }
                    answers.add(caller, startedAt, failure);
                }));
        return answers;
    }

    /** Lets callers come at an even rate, and returns by how much later one came since this machine is not quick enough. */
    private static Duration arrive(int callers, Duration within, IntConsumer caller) {
        long begun = System.nanoTime();
        long latest = 0;
        for (int i = 0; i < callers; i++) {
            long at = begun + within.toNanos() / callers * i;
            while (at - System.nanoTime() > 0) {
                LockSupport.parkNanos(at - System.nanoTime());
            }
            caller.accept(i);
            latest = within.isZero() ? 0 : Math.max(latest, System.nanoTime() - at);
        }
        return Duration.ofNanos(latest);
    }

    private AcquireRequest request(Duration waitTime) {
        return AcquireRequest.of(name).withPermits(name, REQUESTED).withWaitTime(waitTime);
    }

    private static long usedHeap() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    /** By reflection: these tests are compiled for Java 17. */
    private static ExecutorService virtualThreads() throws ReflectiveOperationException {
        return (ExecutorService)
                Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    }
}
