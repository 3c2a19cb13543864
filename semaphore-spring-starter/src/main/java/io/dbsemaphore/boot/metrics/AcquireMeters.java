package io.dbsemaphore.boot.metrics;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter.MeterProvider;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How long acquires take, and how many callers of this JVM are at one now. */
final class AcquireMeters {

    private static final Logger log = LoggerFactory.getLogger(AcquireMeters.class);

    static final String FAILED = "failed";

    private static final List<String> OUTCOMES = List.of(SemaphoreMetrics.GRANTED, SemaphoreMetrics.REFUSED, FAILED);

    private final MeterRegistry registry;
    private final ConfiguredNames names;
    private final MeterProvider<Timer> acquires;
    private final Map<String, AtomicInteger> waiting = new ConcurrentHashMap<>();

    AcquireMeters(MeterRegistry registry, ConfiguredNames names) {
        this.registry = registry;
        this.names = names;
        acquires = Timer.builder("semaphore.acquire")
                .description("From the call of an acquire to its end")
                .withRegistry(registry);
        names.allAndOther().forEach(this::startAtZero);
    }

    private void startAtZero(String name) {
        waiting(name);
        OUTCOMES.forEach(
                outcome -> acquires.withTags(SemaphoreMetrics.SEMAPHORE, name, SemaphoreMetrics.OUTCOME, outcome));
    }

    /** An acquire begins. */
    Running begin(Collection<String> semaphores) {
        Set<String> configured = names.of(semaphores);
        configured.forEach(name -> safely(() -> waiting(name).incrementAndGet()));
        return new Running(configured, System.nanoTime());
    }

    /** A meter that throws must not change an acquire, whose permits would be left behind. */
    private static void safely(Runnable measurement) {
        try {
            measurement.run();
        } catch (Throwable failure) {
            warn(failure);
        }
    }

    private static void warn(Throwable failure) {
        try {
            log.warn("An acquire could not be measured; that does not change it", failure);
        } catch (Throwable notEvenThat) {
            // short of memory or of stack, as the meter was
        }
    }

    private AtomicInteger waiting(String name) {
        return waiting.computeIfAbsent(name, added -> {
            AtomicInteger callers = new AtomicInteger();
            Gauge.builder("semaphore.waiting", callers, AtomicInteger::get)
                    .description("Callers of this instance that are at an acquire now")
                    .tag(SemaphoreMetrics.SEMAPHORE, added)
                    .register(registry);
            return callers;
        });
    }

    /** An acquire that has begun. */
    final class Running {

        private final Set<String> configured;
        private final long begin;

        private Running(Set<String> configured, long begin) {
            this.configured = configured;
            this.begin = begin;
        }

        void end(String outcome) {
            long nanos = System.nanoTime() - begin;
            configured.forEach(name -> {
                safely(() -> waiting(name).decrementAndGet());
                safely(() -> acquires.withTags(SemaphoreMetrics.SEMAPHORE, name, SemaphoreMetrics.OUTCOME, outcome)
                        .record(nanos, TimeUnit.NANOSECONDS));
            });
        }
    }
}
