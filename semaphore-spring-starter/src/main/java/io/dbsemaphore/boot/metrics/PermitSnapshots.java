package io.dbsemaphore.boot.metrics;

import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiFunction;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The gauges of capacity, held and available permits and of waiting callers, for each configured name. One query reads the status of all
 * semaphores at an interval, on a thread of the engine. A gauge gets the last reading at once, however slow the database is. The readings
 * begin when a gauge is asked for its value. They end after two minutes in which no gauge was asked, or with the engine.
 */
final class PermitSnapshots implements MeterBinder {

    private static final Logger log = LoggerFactory.getLogger(PermitSnapshots.class);

    /** The number of intervals after which a reading is too old to be shown. */
    private static final int MAX_AGE = 3;

    private static final Duration IDLE_AFTER = Duration.ofMinutes(2);

    private static final List<Shown> SHOWN = List.of(
            new Shown("capacity", "How many permits may be held at once", SemaphoreStatus::capacity),
            new Shown("held", "How many permits are held", SemaphoreStatus::held),
            new Shown(
                    "available",
                    "How many permits are not held; 0 while one caller has all of them",
                    SemaphoreStatus::available),
            new Shown("waiting", "How many callers wait for permits, in all instances", SemaphoreStatus::waiting));

    private final SemaphoreAdmin admin;
    private final ConfiguredNames names;
    private final Duration interval;
    private final BiFunction<Duration, Runnable, Future<?>> timer;
    private final LongSupplier clock;
    private final DoubleSupplier patternUsage;
    private volatile @Nullable Snapshot last;

    private Future<?> readings = CompletableFuture.completedFuture("none so far");
    private long askedAt;

    private record Shown(String meter, String description, ToLongFunction<SemaphoreStatus> value) {}

    private record Snapshot(Map<String, List<SemaphoreStatus>> byName, double patternUsage, long readAt) {}

    /**
     * Creates the gauges.
     *
     * @param timer runs a task at once and at this interval, on threads that may block, until the task is cancelled or the engine ends;
     *     rejects it without waiting while the engine does not run
     * @param clock the current {@link System#nanoTime}
     * @param patternUsage how many semaphores patterns have created, divided by how many they may create; may read the database
     */
    PermitSnapshots(
            SemaphoreAdmin admin,
            ConfiguredNames names,
            Duration interval,
            BiFunction<Duration, Runnable, Future<?>> timer,
            LongSupplier clock,
            DoubleSupplier patternUsage) {
        this.admin = admin;
        this.names = names;
        this.interval = interval;
        this.timer = timer;
        this.clock = clock;
        this.patternUsage = patternUsage;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        names.all()
                .forEach(name -> SHOWN.forEach(shown -> Gauge.builder(
                                "semaphore.permits." + shown.meter(), this, source -> source.sum(name, shown.value()))
                        .description(shown.description())
                        .tag(SemaphoreMetrics.SEMAPHORE, name)
                        .register(registry)));
        Gauge.builder("semaphore.patterns.usage", this, source -> source.value(Snapshot::patternUsage))
                .description("Share of semaphore.max-pattern-semaphores that patterns have created")
                .register(registry);
    }

    /** The sum over all semaphores of this configured name; not a number if it is unknown. Never waits. */
    double sum(String name, ToLongFunction<SemaphoreStatus> value) {
        return value(snapshot -> snapshot.byName().getOrDefault(name, List.of()).stream()
                .mapToLong(value)
                .sum());
    }

    private double value(ToDoubleFunction<Snapshot> value) {
        ask();
        Snapshot snapshot = last;
        return snapshot == null || clock.getAsLong() - snapshot.readAt() > MAX_AGE * interval.toNanos()
                ? Double.NaN
                : value.applyAsDouble(snapshot);
    }

    private synchronized void ask() {
        askedAt = clock.getAsLong();
        if (readings.isDone()) {
            try {
                readings = timer.apply(interval, this::read);
            } catch (RejectedExecutionException notRunning) {
                log.debug("The status of the semaphores is not read while they are stopped", notRunning);
            }
        }
    }

    /** Ends the readings if no gauge has been asked for its value recently. */
    private synchronized boolean isAsked() {
        boolean asked = clock.getAsLong() - askedAt < IDLE_AFTER.toNanos();
        if (!asked) {
            readings.cancel(false);
        }
        return asked;
    }

    private void read() {
        try {
            if (isAsked()) {
                long readAt = clock.getAsLong();
                last = new Snapshot(
                        admin.list().stream().collect(Collectors.groupingBy(status -> names.of(status.name()))),
                        patternUsage.getAsDouble(),
                        readAt);
            }
        } catch (RuntimeException failure) {
            log.debug("The status of the semaphores could not be read", failure);
        }
    }
}
