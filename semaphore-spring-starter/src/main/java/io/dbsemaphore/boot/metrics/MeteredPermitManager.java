package io.dbsemaphore.boot.metrics;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.AcquireResult;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitManager;
import io.dbsemaphore.ReleaseOutcome;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Measures each acquire, whatever its end. */
final class MeteredPermitManager implements PermitManager {

    private final PermitManager delegate;
    private final AcquireMeters meters;

    MeteredPermitManager(PermitManager delegate, AcquireMeters meters) {
        this.delegate = delegate;
        this.meters = meters;
    }

    @Override
    public AcquireResult acquire(AcquireRequest request) {
        return measure(request, () -> delegate.acquire(request));
    }

    @Override
    public AcquireResult acquireForWork(AcquireRequest request) {
        return measure(request, () -> delegate.acquireForWork(request));
    }

    @Override
    public CompletableFuture<AcquireResult> acquireAsync(AcquireRequest request) {
        AcquireMeters.Running running = meters.begin(request.permits().keySet());
        CompletableFuture<AcquireResult> acquire;
        try {
            acquire = delegate.acquireAsync(request);
        } catch (RuntimeException | Error failure) {
            running.end(AcquireMeters.FAILED);
            throw failure;
        }
        acquire.whenComplete((result, failure) -> running.end(outcome(result)));
        return acquire; // itself, since completing it ends the acquire
    }

    @Override
    public ReleaseOutcome release(String externalId) {
        return delegate.release(externalId);
    }

    @Override
    public Optional<PermitGrant> find(String externalId) {
        return delegate.find(externalId);
    }

    @Override
    public PermitGrant renew(String externalId, Duration ttl) {
        return delegate.renew(externalId, ttl);
    }

    @Override
    public void requireHeld(PermitGrant grant) {
        delegate.requireHeld(grant);
    }

    private AcquireResult measure(AcquireRequest request, Supplier<AcquireResult> acquire) {
        AcquireMeters.Running running = meters.begin(request.permits().keySet());
        String outcome = AcquireMeters.FAILED;
        try {
            AcquireResult result = acquire.get();
            outcome = outcome(result);
            return result;
        } finally {
            running.end(outcome);
        }
    }

    private static String outcome(@Nullable AcquireResult result) {
        if (result == null) {
            return AcquireMeters.FAILED;
        }
        return result instanceof AcquireResult.Granted ? SemaphoreMetrics.GRANTED : SemaphoreMetrics.REFUSED;
    }
}
