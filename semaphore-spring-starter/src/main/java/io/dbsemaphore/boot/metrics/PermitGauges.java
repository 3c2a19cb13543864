package io.dbsemaphore.boot.metrics;

import io.dbsemaphore.admin.SemaphoreStatus;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.function.ToLongFunction;

/**
 * Publishes capacity, held and available permits of what is configured, and how many callers wait, as the database had them a
 * moment ago.
 */
final class PermitGauges implements MeterBinder {

    private final PermitSnapshots snapshots;
    private final ConfiguredNames names;

    PermitGauges(PermitSnapshots snapshots, ConfiguredNames names) {
        this.snapshots = snapshots;
        this.names = names;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        names.all().forEach(name -> bind(registry, name));
    }

    private void bind(MeterRegistry registry, String name) {
        gauge(
                registry,
                name,
                "semaphore.permits.capacity",
                "How many permits may be held at once",
                SemaphoreStatus::capacity);
        gauge(registry, name, "semaphore.permits.held", "How many permits are held", SemaphoreStatus::held);
        gauge(
                registry,
                name,
                "semaphore.permits.available",
                "How many permits could be acquired now",
                SemaphoreStatus::available);
        gauge(
                registry,
                name,
                "semaphore.permits.waiting",
                "How many callers wait for permits, in all instances",
                SemaphoreStatus::waiting);
    }

    private void gauge(
            MeterRegistry registry,
            String name,
            String meter,
            String description,
            ToLongFunction<SemaphoreStatus> value) {
        Gauge.builder(meter, snapshots, source -> source.sum(name, value))
                .description(description)
                .tag(SemaphoreMetrics.SEMAPHORE, name)
                .register(registry);
    }
}
