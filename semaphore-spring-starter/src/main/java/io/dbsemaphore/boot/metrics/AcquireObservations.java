package io.dbsemaphore.boot.metrics;

import io.dbsemaphore.AcquireRequest;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.ObservationRegistry;

/**
 * Makes an observation of each acquire, so that a trace shows how long a caller waited for the semaphore. Its name and keys are the
 * default ones, which the application can change.
 */
record AcquireObservations(ObservationRegistry registry) implements ObservationConvention<AcquireContext> {

    static final String NAME = "semaphore.acquisition";

    Observation of(AcquireContext context) {
        return Observation.createNotStarted(null, this, () -> context, registry);
    }

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
        AcquireRequest request = context.request();
        KeyValues values = KeyValues.of("semaphore.permits", request.permits().toString());
        values = request.waitTime().isEmpty()
                ? values
                : values.and("semaphore.wait_time", request.waitTime().get().toString());
        return request.externalId().isEmpty()
                ? values
                : values.and("semaphore.external_id", request.externalId().get());
    }

    @Override
    public boolean supportsContext(Observation.Context context) {
        return context instanceof AcquireContext;
    }
}
