package io.dbsemaphore.boot.metrics;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter.MeterProvider;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Measures the duration of acquires, and counts the callers of this JVM with an acquire in progress. */
final class AcquireMeters {

    private static final List<String> OUTCOMES = List.of(
            SemaphoreMetrics.GRANTED, SemaphoreMetrics.REFUSED, SemaphoreMetrics.FAILED, SemaphoreMetrics.REUSED);

    private final MeterRegistry registry;
    private final MeterProvider<Timer> acquires;
    private final Map<String, AtomicInteger> waiting = new ConcurrentHashMap<>();

    AcquireMeters(MeterRegistry registry, ConfiguredNames names) {
        this.registry = registry;
        acquires = Timer.builder("semaphore.acquire")
                .description("Duration of acquires, from the call to its end")
                .withRegistry(registry);
        names.all().forEach(this::startAtZero);
    }

    void started(Set<String> configured) {
        configured.forEach(name -> waiting(name).incrementAndGet());
    }

    /** Decrements first, which cannot throw: otherwise a failing timer would leave the gauge too high for good. */
    void ended(Set<String> configured, String outcome, long nanos) {
        configured.forEach(name -> waiting(name).decrementAndGet());
        configured.forEach(name -> timer(name, outcome).record(nanos, TimeUnit.NANOSECONDS));
    }

    private void startAtZero(String name) {
        waiting(name);
        OUTCOMES.forEach(outcome -> timer(name, outcome));
    }

    private Timer timer(String name, String outcome) {
        return acquires.withTags(SemaphoreMetrics.SEMAPHORE, name, SemaphoreMetrics.OUTCOME, outcome);
    }

    private AtomicInteger waiting(String name) {
        return waiting.computeIfAbsent(name, added -> {
            AtomicInteger callers = new AtomicInteger();
            Gauge.builder("semaphore.waiting", callers, AtomicInteger::get)
                    .description("Callers of this instance with an acquire in progress")
                    .tag(SemaphoreMetrics.SEMAPHORE, added)
                    .register(registry);
            return callers;
        });
    }
}
