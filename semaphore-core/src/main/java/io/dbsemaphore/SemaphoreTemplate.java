package io.dbsemaphore;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Acquires permits around work and releases them afterwards: the bean to inject.
 *
 * <pre>{@code
 * semaphores.executeWithoutResult(
 *         AcquireRequest.of("backup", "network").withTtl(Duration.ofMinutes(30)),
 *         grant -> copy(snapshot, grant.fencingToken("backup")));
 * }</pre>
 *
 * <p>Modelled on Spring's {@code TransactionTemplate}. Immutable, and safe for use by any number of threads.
 */
public class SemaphoreTemplate implements SemaphoreOperations {

    private static final Logger log = LoggerFactory.getLogger(SemaphoreTemplate.class);

    private final PermitManager permitManager;

    /** Creates a template on this engine. */
    public SemaphoreTemplate(PermitManager permitManager) {
        this.permitManager = Objects.requireNonNull(permitManager);
    }

    @Override
    public PermitGrant acquire(AcquireRequest request) {
        return demand(permitManager.acquire(request));
    }

    @Override
    public Optional<PermitGrant> tryAcquire(AcquireRequest request) {
        return permitManager.acquire(request) instanceof AcquireResult.Granted granted
                ? Optional.of(granted.grant())
                : Optional.empty();
    }

    @Override
    public <T extends @Nullable Object, X extends Throwable> T execute(
            AcquireRequest request, PermitCallback<T, X> work) throws X {
        PermitGrant grant = demand(permitManager.acquireForWork(request));
        T result;
        try {
            result = Permits.callHolding(grant, work);
        } catch (Throwable failure) {
            releaseAfterFailure(grant, failure);
            throw failure;
        }
        releaseAfterSuccess(grant);
        return result;
    }

    @Override
    public <X extends Throwable> void executeWithoutResult(AcquireRequest request, PermitAction<X> work) throws X {
        this.<Boolean, X>execute(request, grant -> {
            work.doWithPermits(grant);
            return Boolean.TRUE;
        });
    }

    @Override
    public ReleaseOutcome release(String externalId) {
        return permitManager.release(SemaphoreName.requireValidKey("external id", externalId));
    }

    @Override
    public Optional<PermitGrant> find(String externalId) {
        return permitManager.find(SemaphoreName.requireValidKey("external id", externalId));
    }

    @Override
    public PermitGrant renew(String externalId, Duration ttl) {
        return permitManager.renew(SemaphoreName.requireValidKey("external id", externalId), ttl);
    }

    @Override
    public void requireHeld(PermitGrant grant) {
        permitManager.requireHeld(grant);
    }

    private static PermitGrant demand(AcquireResult result) {
        if (result instanceof AcquireResult.Granted granted) {
            return granted.grant();
        }
        throw new PermitsUnavailableException(((AcquireResult.Unavailable) result).shortages());
    }

    private static void releaseAfterFailure(PermitGrant grant, Throwable failure) {
        try {
            grant.release();
        } catch (RuntimeException | Error releaseFailure) {
            if (releaseFailure != failure) {
                failure.addSuppressed(releaseFailure);
            }
        }
    }

    /** The work is done: its caller must not be told otherwise because the permit could not be given back just now. */
    private static void releaseAfterSuccess(PermitGrant grant) {
        try {
            grant.release();
        } catch (RuntimeException | Error releaseFailure) {
            log.warn(
                    "The work of {} on {} is done, but its permits could not be released yet; the release goes on in the"
                            + " background, at the latest they are free when their TTL has passed",
                    grant.externalId(),
                    grant.permits(),
                    releaseFailure);
        }
    }
}
