package io.dbsemaphore;

import io.dbsemaphore.admin.SemaphoreName;
import io.dbsemaphore.spi.PermitManager;
import io.dbsemaphore.spi.PermitManager.AcquireResult;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Acquires permits, runs work under them and releases them. The bean to inject.
 *
 * <pre>{@code
 * semaphores.executeWithoutResult(
 *         AcquireRequest.of("backup", "network").withWaitTime(Duration.ofMinutes(1)),
 *         grant -> copy(snapshot, grant.fencingToken("backup")));
 * }</pre>
 *
 * <p>Modeled on Spring's {@code TransactionTemplate}. Immutable and thread-safe.
 */
public class SemaphoreTemplate implements SemaphoreOperations {

    private final PermitManager permitManager;

    /**
     * Creates a template.
     *
     * @param permitManager the engine that grants and releases
     */
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
    public AcquireFuture acquireAsync(AcquireRequest request) {
        List<PermitGrant> own = Permits.grants().toList(); // read here, on the thread of the caller
        CompletableFuture<AcquireResult> acquire = permitManager.acquireAsync(request);
        PendingGrant grant = new PendingGrant(acquire);
        CompletableFuture<?> unused = acquire.whenComplete((result, failure) -> {
            if (failure != null) {
                grant.fail(failure);
            } else if (!(result instanceof AcquireResult.Granted granted)) {
                grant.fail(unavailable(result, own));
            } else if (!grant.succeed(granted.grant()) && !granted.grant().isReplayed()) {
                granted.grant().close();
            }
        });
        // completeAsync calls none of the methods that end the acquire; no effect on an acquire that has ended
        CompletableFuture<?> unusedToo = grant.whenComplete((result, failure) -> acquire.cancel(true));
        return grant;
    }

    @Override
    public <T extends @Nullable Object, X extends Throwable> T execute(
            AcquireRequest request, PermitCallback<T, X> work) throws X {
        try (PermitGrant grant = demand(permitManager.acquireForWork(request))) {
            return Permits.callHolding(grant, work);
        }
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

    /**
     * The future of a grant. When the application completes it, the acquire ends first: the application's dependent actions, which run
     * before those of the library, may take long.
     */
    private static final class PendingGrant extends AcquireFuture {

        private final CompletableFuture<AcquireResult> acquire;
        private volatile boolean left;

        PendingGrant(CompletableFuture<AcquireResult> acquire) {
            this.acquire = acquire;
        }

        @Override
        public List<QueuePosition> positions() {
            return acquire instanceof QueuePosition.Source source ? source.positions() : List.of();
        }

        /** Delivers the grant; returns false if the application has completed this future otherwise. */
        boolean succeed(PermitGrant grant) {
            return super.complete(grant) || (!isCompletedExceptionally() && getNow(null) == grant);
        }

        void fail(Throwable failure) {
            if (!left) {
                super.completeExceptionally(failure);
            }
        }

        private void leave() {
            left = true;
            if (!acquire.cancel(true)
                    && !acquire.isCompletedExceptionally()
                    && acquire.getNow(null) instanceof AcquireResult.Granted granted) {
                succeed(granted.grant()); // too late: the grant is delivered, as in a completed future
            }
        }

        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            leave();
            return super.cancel(mayInterruptIfRunning);
        }

        @Override
        public boolean complete(PermitGrant value) {
            leave();
            return super.complete(value);
        }

        @Override
        public boolean completeExceptionally(Throwable failure) {
            leave();
            return super.completeExceptionally(failure);
        }
    }

    private PermitGrant demand(AcquireResult result) {
        if (result instanceof AcquireResult.Granted granted) {
            return granted.grant();
        }
        throw unavailable(result, Permits.grants().toList());
    }

    private PermitsUnavailableException unavailable(AcquireResult result, List<PermitGrant> own) {
        AcquireResult.Unavailable refused = (AcquireResult.Unavailable) result;
        return new PermitsUnavailableException(
                refused.shortages(), refused.waitTime(), own, permitManager::firstHolders);
    }
}
