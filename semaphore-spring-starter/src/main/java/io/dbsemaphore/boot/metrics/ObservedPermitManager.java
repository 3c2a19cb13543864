package io.dbsemaphore.boot.metrics;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.AcquireResult;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitManager;
import io.dbsemaphore.ReleaseOutcome;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Makes an observation of each acquire, so that a trace shows how long a caller stood before the semaphore. */
final class ObservedPermitManager implements PermitManager {

    private static final AcquireObservationConvention CONVENTION = new AcquireObservationConvention();
    private static final String SEVERAL = "several";

    private final PermitManager delegate;
    private final ObservationRegistry registry;
    private final ConfiguredNames names;

    ObservedPermitManager(PermitManager delegate, ObservationRegistry registry, ConfiguredNames names) {
        this.delegate = delegate;
        this.registry = registry;
        this.names = names;
    }

    @Override
    public AcquireResult acquire(AcquireRequest request) {
        return observe(request, () -> delegate.acquire(request));
    }

    @Override
    public AcquireResult acquireForWork(AcquireRequest request) {
        return observe(request, () -> delegate.acquireForWork(request));
    }

    /** Stopped on the thread that completes the future. No scope is opened there: what follows belongs to the caller. */
    @Override
    public CompletableFuture<AcquireResult> acquireAsync(AcquireRequest request) {
        AcquireContext context = new AcquireContext(request, semaphore(request));
        context.setOutcome("failed");
        SafeObservation observation = start(context);
        CompletableFuture<AcquireResult> acquire;
        try {
            acquire = delegate.acquireAsync(request);
        } catch (RuntimeException | Error failure) {
            observation.error(failure);
            observation.stop();
            throw failure;
        }
        acquire.whenComplete((result, failure) -> {
            if (failure == null) {
                context.setOutcome(outcome(result));
            } else {
                observation.error(failure);
            }
            observation.stop();
        });
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

    private AcquireResult observe(AcquireRequest request, Supplier<AcquireResult> acquire) {
        AcquireContext context = new AcquireContext(request, semaphore(request));
        context.setOutcome("failed");
        SafeObservation observation = start(context);
        observation.openScope();
        try {
            AcquireResult result = acquire.get();
            context.setOutcome(outcome(result));
            return result;
        } catch (RuntimeException | Error failure) {
            observation.error(failure);
            throw failure;
        } finally {
            observation.closeScope();
            observation.stop();
        }
    }

    private SafeObservation start(AcquireContext context) {
        return SafeObservation.start(
                registry, () -> Observation.createNotStarted(null, CONVENTION, () -> context, registry));
    }

    private static String outcome(AcquireResult result) {
        return result instanceof AcquireResult.Granted ? "granted" : "refused";
    }

    /** Few values, however many names are combined. */
    private String semaphore(AcquireRequest request) {
        Set<String> configured = names.of(request.permits().keySet());
        return configured.size() == 1 ? configured.iterator().next() : SEVERAL;
    }
}
