package io.dbsemaphore.boot.metrics;

import io.dbsemaphore.AcquireRequest;
import io.micrometer.observation.Observation;

/**
 * What is observed of an acquire. To observe it in another way, register a
 * {@link io.micrometer.observation.GlobalObservationConvention} for it.
 */
public final class AcquireContext extends Observation.Context {

    private final AcquireRequest request;
    private final String semaphore;
    private volatile String outcome = "unknown";

    AcquireContext(AcquireRequest request, String semaphore) {
        this.request = request;
        this.semaphore = semaphore;
    }

    /** {@return what is requested} */
    public AcquireRequest request() {
        return request;
    }

    /** {@return the semaphore as it is configured, or the pattern that matches; {@code several} if there are more} */
    public String semaphore() {
        return semaphore;
    }

    /** {@return {@code granted}, {@code reused}, {@code refused} or {@code failed}; {@code unknown} before its end} */
    public String outcome() {
        return outcome;
    }

    void setOutcome(String outcome) {
        this.outcome = outcome;
    }
}
