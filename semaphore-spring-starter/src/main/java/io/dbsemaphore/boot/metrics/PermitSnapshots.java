package io.dbsemaphore.boot.metrics;

import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
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
import org.springframework.context.SmartLifecycle;

/**
 * The status of all semaphores, read by one query at an interval, on a thread of its own. A gauge gets the last reading at once,
 * however slow the database is. Nothing is read before a gauge has been asked for its value, or when none has been for two
 * minutes; the first value after that is not a number. While the application context is paused or stopped there is no thread and
 * nothing is read.
 */
final class PermitSnapshots implements SmartLifecycle, AutoCloseable {

    /**
     * Above 1024, the phase of the engine, so that the readings end before it; below {@code Integer.MAX_VALUE / 2}, where
     * application work begins.
     */
    static final int PHASE = 1025;

    private static final Logger log = LoggerFactory.getLogger(PermitSnapshots.class);

    /** The number of intervals after which a reading is too old to be shown. */
    private static final int MAX_AGE = 3;

    private static final Duration IDLE_AFTER = Duration.ofMinutes(2);

    /** How long a stop waits for a reading in progress before it interrupts it, and again afterwards. */
    private static final Duration END_WITHIN = Duration.ofSeconds(2);

    private final SemaphoreAdmin admin;
    private final ConfiguredNames names;
    private final long intervalNanos;
    private final ThreadFactory threads;
    private volatile long askedAt;
    private volatile @Nullable Snapshot last;
    private volatile @Nullable Readings readings;

    private record Snapshot(Map<String, List<SemaphoreStatus>> byName, long readAt) {}

    PermitSnapshots(SemaphoreAdmin admin, ConfiguredNames names, Duration interval, ThreadFactory threads) {
        this.admin = admin;
        this.names = names;
        this.intervalNanos = interval.toNanos();
        this.threads = threads;
    }

    /** The sum over all semaphores of this configured name; not a number when it is not known. Never waits. */
    double sum(String name, ToLongFunction<SemaphoreStatus> value) {
        askedAt = System.nanoTime();
        Readings current = readings;
        if (current != null) {
            current.beginUnlessBegun();
        }
        Snapshot snapshot = last;
        return snapshot == null || System.nanoTime() - snapshot.readAt() > MAX_AGE * intervalNanos
                ? Double.NaN
                : snapshot.byName().getOrDefault(name, List.of()).stream()
                        .mapToLong(value)
                        .sum();
    }

    @Override
    public void start() {
        if (readings == null) {
            readings = new Readings();
        }
    }

    @Override
    public void stop() {
        Readings current = readings;
        readings = null;
        if (current != null) {
            current.end();
        }
    }

    @Override
    public boolean isRunning() {
        return readings != null;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    @Override
    public void close() {
        stop();
    }

    /** The readings between a start and the next stop. */
    private final class Readings {

        private final ScheduledThreadPoolExecutor thread = new ScheduledThreadPoolExecutor(1, threads);
        private final AtomicBoolean begun = new AtomicBoolean();

        Readings() {
            thread.setKeepAliveTime(1, TimeUnit.SECONDS);
            thread.allowCoreThreadTimeOut(true);
            thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        }

        void beginUnlessBegun() {
            if (begun.compareAndSet(false, true)) {
                readIn(0);
            }
        }

        private void readIn(long nanos) {
            try {
                ScheduledFuture<?> unused = thread.schedule(this::read, nanos, TimeUnit.NANOSECONDS);
            } catch (RuntimeException | Error failure) { // ended, or no thread available: the next caller tries again
                thread.getQueue().clear(); // the executor has queued the task nevertheless
                begun.set(false);
                log.debug("The status of the semaphores is not read for the moment", failure);
            }
        }

        private void read() {
            try {
                long readAt = System.nanoTime();
                last = new Snapshot(
                        admin.list().stream().collect(Collectors.groupingBy(status -> names.of(status.name()))),
                        readAt);
            } catch (RuntimeException | Error failure) {
                log.debug("The status of the semaphores could not be read", failure);
            }
            if (System.nanoTime() - askedAt < IDLE_AFTER.toNanos()) {
                readIn(intervalNanos);
            } else {
                begun.set(false);
            }
        }

        /** Lets a reading end first, since an interrupt can make a driver close the database, as H2's does. */
        void end() {
            thread.shutdown();
            try {
                if (!thread.awaitTermination(END_WITHIN.toNanos(), TimeUnit.NANOSECONDS)) {
                    thread.shutdownNow();
                    if (!thread.awaitTermination(END_WITHIN.toNanos(), TimeUnit.NANOSECONDS)) {
                        log.debug("A read of the status of the semaphores is still in progress");
                    }
                }
            } catch (InterruptedException interrupt) {
                thread.shutdownNow();
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Publishes capacity, held and available permits of what is configured, and how many callers wait, as the database had them a
     * moment ago.
     */
    static final class Gauges implements MeterBinder {

        private static final List<Shown> SHOWN = List.of(
                new Shown("capacity", "How many permits may be held at once", SemaphoreStatus::capacity),
                new Shown("held", "How many permits are held", SemaphoreStatus::held),
                new Shown("available", "How many permits could be acquired now", SemaphoreStatus::available),
                new Shown("waiting", "How many callers wait for permits, in all instances", SemaphoreStatus::waiting));

        private final PermitSnapshots snapshots;
        private final ConfiguredNames names;

        private record Shown(String meter, String description, ToLongFunction<SemaphoreStatus> value) {}

        Gauges(PermitSnapshots snapshots, ConfiguredNames names) {
            this.snapshots = snapshots;
            this.names = names;
        }

        @Override
        public void bindTo(MeterRegistry registry) {
            names.all()
                    .forEach(name -> SHOWN.forEach(shown -> Gauge.builder(
                                    "semaphore.permits." + shown.meter(),
                                    snapshots,
                                    source -> source.sum(name, shown.value()))
                            .description(shown.description())
                            .tag(SemaphoreMetrics.SEMAPHORE, name)
                            .register(registry)));
        }
    }
}
