package io.dbsemaphore.boot.metrics;

import io.dbsemaphore.SemaphoreAdmin;
import io.dbsemaphore.SemaphoreStatus;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The status of all semaphores, read by one query at an interval, on a thread of its own. A gauge gets the last reading at once,
 * however slow the database is. Nothing is read before a gauge has been asked for its value, or when none has been for two
 * minutes; the first value after that is not a number.
 */
final class PermitSnapshots implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(PermitSnapshots.class);

    /** The number of intervals after which a reading is too old to be shown. */
    private static final int MAX_AGE = 3;

    private static final Duration IDLE_AFTER = Duration.ofMinutes(2);

    private final SemaphoreAdmin admin;
    private final ConfiguredNames names;
    private final long intervalNanos;
    private final ScheduledThreadPoolExecutor thread;
    private final AtomicBoolean reading = new AtomicBoolean();
    private volatile long askedAt;
    private volatile @Nullable Snapshot last;

    private record Snapshot(Map<String, List<SemaphoreStatus>> byName, long readAt) {}

    PermitSnapshots(SemaphoreAdmin admin, ConfiguredNames names, Duration interval, ThreadFactory threads) {
        this.admin = admin;
        this.names = names;
        this.intervalNanos = interval.toNanos();
        this.thread = new ScheduledThreadPoolExecutor(1, threads);
        thread.setKeepAliveTime(1, TimeUnit.SECONDS);
        thread.allowCoreThreadTimeOut(true);
    }

    /** The sum over all semaphores of this configured name; not a number when it is not known. Never waits. */
    double sum(String name, ToLongFunction<SemaphoreStatus> value) {
        ask();
        Snapshot snapshot = last;
        return snapshot == null || System.nanoTime() - snapshot.readAt() > MAX_AGE * intervalNanos
                ? Double.NaN
                : snapshot.byName().getOrDefault(name, List.of()).stream()
                        .mapToLong(value)
                        .sum();
    }

    private void ask() {
        askedAt = System.nanoTime();
        if (reading.compareAndSet(false, true)) {
            readIn(0);
        }
    }

    private void readIn(long nanos) {
        try {
            ScheduledFuture<?> unused = thread.schedule(this::read, nanos, TimeUnit.NANOSECONDS);
        } catch (RuntimeException | Error failure) { // closed, or no thread available: the next caller tries again
            thread.getQueue().clear(); // the executor has queued the task nevertheless
            reading.set(false);
            log.debug("What the semaphores are at is not read now", failure);
        }
    }

    private void read() {
        try {
            long readAt = System.nanoTime();
            last = new Snapshot(
                    admin.list().stream().collect(Collectors.groupingBy(status -> names.of(status.name()))), readAt);
        } catch (RuntimeException | Error failure) {
            log.debug("What the semaphores are at could not be read", failure);
        }
        if (System.nanoTime() - askedAt < IDLE_AFTER.toNanos()) {
            readIn(intervalNanos);
        } else {
            reading.set(false);
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
