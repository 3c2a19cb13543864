package io.dbsemaphore.tools.benchmark;

import com.sun.management.OperatingSystemMXBean;
import io.dbsemaphore.tools.benchmark.approach.Limiter;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;

/** One round of a case in this JVM. */
final class Round {

    private static final long CONNECTIONS_PERIOD_MILLIS = 3;

    /** So many acquires of a thread are timed, and of further ones every 64th, since all would need too much memory. */
    private static final long ALL_ARE_TIMED = 100_000;

    private static final long TIMED_OF_MORE = 64;

    /** A thread that is active for a part of the time is so in each of these. */
    private static final long ACTIVITY_PERIOD = TimeUnit.MILLISECONDS.toNanos(10);

    private final OpenScenario.Opened opened;
    private final Case measured;
    private final List<Long> semaphores;
    private final Duration length;
    private final double activity;

    /** @param activity the part of the time for which its threads are active */
    Round(OpenScenario.Opened opened, Case measured, List<Long> semaphores, Duration length, double activity) {
        this.opened = opened;
        this.measured = measured;
        this.semaphores = semaphores;
        this.length = length;
        this.activity = activity;
    }

    /** @param start called when all threads are ready; they begin when it returns */
    Measurement run(Callable<?> start) throws Exception {
        int count = measured.scenario().threads();
        CountDownLatch ready = new CountDownLatch(count);
        CountDownLatch go = new CountDownLatch(1);
        AtomicInteger connections = new AtomicInteger();
        ExecutorService threads = Executors.newFixedThreadPool(count);
        ScheduledExecutorService observer = Executors.newSingleThreadScheduledExecutor();
        try {
            List<Future<Measurement>> futures = new ArrayList<>();
            for (int thread = 0; thread < count; thread++) {
                futures.add(threads.submit(() -> {
                    ready.countDown();
                    go.await();
                    return measure(opened.limiter());
                }));
            }
            ready.await();
            long cpuBefore = processCpuNanos();
            var unusedAnswer = start.call();
            var unused = observer.scheduleAtFixedRate(
                    () -> connections.accumulateAndGet(opened.connectionsInUse(), Math::max),
                    0,
                    CONNECTIONS_PERIOD_MILLIS,
                    TimeUnit.MILLISECONDS);
            go.countDown();
            List<Measurement> parts = new ArrayList<>();
            for (Future<Measurement> future : futures) {
                parts.add(future.get());
            }
            Measurement sum = Measurement.sum(parts);
            return new Measurement(
                    length,
                    sum.pairs(),
                    sum.acquireNanos(),
                    connections.get(),
                    sum.failures(),
                    sum.failure(),
                    processCpuNanos() - cpuBefore,
                    ServerWork.UNKNOWN);
        } finally {
            observer.shutdownNow();
            threads.shutdownNow();
        }
    }

    private static long processCpuNanos() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
    }

    /** One thread: acquires and releases until the round ends. */
    private Measurement measure(Limiter limiter) throws InterruptedException {
        LongStream.Builder acquires = LongStream.builder();
        long pairs = 0;
        long turn = 0;
        long failures = 0;
        String failure = null;
        long hold = measured.scenario().hold().toNanos();
        long begin = System.nanoTime();
        long end = begin + length.toNanos();
        for (long start = begin; start - end < 0; start = System.nanoTime()) {
            if (pairs > 0 && (start - begin) % ACTIVITY_PERIOD >= activity * ACTIVITY_PERIOD) {
                LockSupport.parkNanos(ACTIVITY_PERIOD / 10);
                continue;
            }
            try {
                Limiter.Held held = limiter.acquire(measured.pick(semaphores, turn++));
                if (pairs < ALL_ARE_TIMED || pairs % TIMED_OF_MORE == 0) {
                    acquires.add(System.nanoTime() - start);
                }
                if (hold > 0) {
                    LockSupport.parkNanos(hold);
                }
                held.release();
                pairs += System.nanoTime() - end < 0 ? 1 : 0;
            } catch (InterruptedException interrupt) {
                throw interrupt;
            } catch (Exception thrown) {
                failures++;
                failure = failure == null ? thrown.toString() : failure;
            }
        }
        return new Measurement(length, pairs, acquires.build().toArray(), 0, failures, failure, 0, ServerWork.UNKNOWN);
    }
}
