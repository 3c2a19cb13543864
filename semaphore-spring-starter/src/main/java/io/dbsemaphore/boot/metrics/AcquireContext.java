package io.dbsemaphore.boot.metrics;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.spi.PermitManager.AcquireResult;
import io.micrometer.observation.Observation;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The observation of an acquire. To change its name or keys, register a
 * {@link io.micrometer.observation.GlobalObservationConvention} for it.
 */
public final class AcquireContext extends Observation.Context {

    private static final String SEVERAL = "several";

    private final AcquireRequest request;
    private final String semaphore;
    private volatile String outcome = "unknown";

    /** @param configured the distinct tag values of the semaphores of the request */
    AcquireContext(AcquireRequest request, Set<String> configured) {
        this.request = request;
        this.semaphore = configured.size() == 1 ? configured.iterator().next() : SEVERAL;
    }

    /** {@return the request} */
    public AcquireRequest request() {
        return request;
    }

    /** {@return the configured name of the semaphore, or the pattern that matches it; {@code several} for several semaphores} */
    public String semaphore() {
        return semaphore;
    }

    /** {@return {@code granted}, {@code reused}, {@code refused} or {@code failed}; {@code unknown} before its end} */
    public String outcome() {
        return outcome;
    }

    /** @param result null if the acquire failed */
    void ended(@Nullable AcquireResult result) {
        outcome = result == null
                ? SemaphoreMetrics.FAILED
                : !(result instanceof AcquireResult.Granted granted)
                        ? SemaphoreMetrics.REFUSED
                        : granted.grant().isReused() ? SemaphoreMetrics.REUSED : SemaphoreMetrics.GRANTED;
    }
}
