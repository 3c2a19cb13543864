package io.dbsemaphore.boot.metrics;

import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/** How an acquire is shown, unless the application says otherwise. */
final class AcquireObservationConvention implements ObservationConvention<AcquireContext> {

    static final String NAME = "semaphore.acquisition";

    @Override
    public String getName() {
        return NAME;
    }

    @Override
    public String getContextualName(AcquireContext context) {
        return "acquire " + context.semaphore();
    }

    @Override
    public KeyValues getLowCardinalityKeyValues(AcquireContext context) {
        return KeyValues.of("semaphore", context.semaphore(), "outcome", context.outcome());
    }

    @Override
    public KeyValues getHighCardinalityKeyValues(AcquireContext context) {
        KeyValues values = KeyValues.of(
                "semaphore.permits", context.request().permits().toString(),
                "semaphore.wait_time", context.request().waitTime().toString());
        return context.request()
                .externalId()
                .map(id -> values.and("semaphore.external_id", id))
                .orElse(values);
    }

    @Override
    public boolean supportsContext(Observation.Context context) {
        return context instanceof AcquireContext;
    }
}
