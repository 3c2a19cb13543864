package io.dbsemaphore.boot.metrics;

import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * The status of all semaphores, read by one query at an interval, on a thread of the engine; and the gauges of capacity, held and available
 * permits and of waiting callers of what is configured. A gauge gets the last reading at once, however slow the database is. Nothing is
 * read before a gauge has been asked for its value, or when none has been for two minutes; the first value after that is not a number.
 * While the application context is paused or stopped, nothing is read.
 */
final class PermitSnapshots implements SmartLifecycle, MeterBinder {

    /**
     * Above 1024, the phase of the engine, so that the readings end before it; below {@code Integer.MAX_VALUE / 2}, where
     * application work begins.
     */
    static final int PHASE = 1025;

    private static final Logger log = LoggerFactory.getLogger(PermitSnapshots.class);

    /** The number of intervals after which a reading is too old to be shown. */
    private static final int MAX_AGE = 3;

    private static final Duration IDLE_AFTER = Duration.ofMinutes(2);

    private static final List<Shown> SHOWN = List.of(
            new Shown("capacity", "How many permits may be held at once", SemaphoreStatus::capacity),
            new Shown("held", "How many permits are held", SemaphoreStatus::held),
            new Shown("available", "How many permits could be acquired now", SemaphoreStatus::available),
            new Shown("waiting", "How many callers wait for permits, in all instances", SemaphoreStatus::waiting));

    private final SemaphoreAdmin admin;
    private final ConfiguredNames names;
    private final Duration interval;
    private final Executor threads;
    private final BiFunction<Duration, Runnable, Future<?>> timer;
    private final AtomicLong askedAt = new AtomicLong();
    private volatile @Nullable Snapshot last;
    private volatile @Nullable Future<?> readings;

    private record Shown(String meter, String description, ToLongFunction<SemaphoreStatus> value) {}

    private record Snapshot(Map<String, List<SemaphoreStatus>> byName, long readAt) {}

    /**
     * Creates the gauges.
     *
     * @param threads run a reading at once
     * @param timer runs a task on these threads at this interval, until it is cancelled, also by the end of the timer
     */
    PermitSnapshots(
            SemaphoreAdmin admin,
            ConfiguredNames names,
            Duration interval,
            Executor threads,
            BiFunction<Duration, Runnable, Future<?>> timer) {
        this.admin = admin;
        this.names = names;
        this.interval = interval;
        this.threads = threads;
        this.timer = timer;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        names.all()
                .forEach(name -> SHOWN.forEach(shown -> Gauge.builder(
                                "semaphore.permits." + shown.meter(), this, source -> source.sum(name, shown.value()))
                        .description(shown.description())
                        .tag(SemaphoreMetrics.SEMAPHORE, name)
                        .register(registry)));
    }

    /** The sum over all semaphores of this configured name; not a number when it is not known. Never waits. */
    double sum(String name, ToLongFunction<SemaphoreStatus> value) {
        long now = System.nanoTime();
        Future<?> current = readings;
        if (current != null && current.isDone()) {
            restart(current); // the engine was stopped, and perhaps started again
        } else if (current != null && isIdle(askedAt.getAndSet(now))) {
            threads.execute(this::read);
        }
        Snapshot snapshot = last;
        return snapshot == null || now - snapshot.readAt() > MAX_AGE * interval.toNanos()
                ? Double.NaN
                : snapshot.byName().getOrDefault(name, List.of()).stream()
                        .mapToLong(value)
                        .sum();
    }

    @Override
    public void start() {
        askedAt.set(System.nanoTime() - IDLE_AFTER.toNanos());
        readings = timer.apply(interval, () -> {
            if (!isIdle(askedAt.get())) {
                read();
            }
        });
    }

    @SuppressWarnings("ReferenceEquality") // the same readings, which no other caller has begun anew or stopped
    private synchronized void restart(Future<?> ended) {
        try {
            if (readings == ended) {
                start();
            }
        } catch (RejectedExecutionException stopped) {
            log.debug("The status of the semaphores is not read while they are stopped", stopped);
        }
    }

    private static boolean isIdle(long askedAt) {
        return System.nanoTime() - askedAt >= IDLE_AFTER.toNanos();
    }

    private void read() {
        try {
            long readAt = System.nanoTime();
            last = new Snapshot(
                    admin.list().stream().collect(Collectors.groupingBy(status -> names.of(status.name()))), readAt);
        } catch (RuntimeException failure) {
            log.debug("The status of the semaphores could not be read", failure);
        }
    }

    @Override
    public synchronized void stop() {
        Future<?> ended = readings;
        readings = null;
        if (ended != null) {
            ended.cancel(false);
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
}
