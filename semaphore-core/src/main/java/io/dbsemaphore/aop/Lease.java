package io.dbsemaphore.aop;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreOperations;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Scheduler;

/**
 * What one subscription holds. It may be cancelled at any time, also while it acquires: that ends the acquire, and a grant that
 * comes too late is released, so that each is released exactly once.
 */
final class Lease {

    private static final Object ENDED = new Object();

    private final SemaphoreOperations operations;
    private final AcquireRequest request;
    private final Scheduler releases;
    private final AtomicReference<@Nullable Object> state = new AtomicReference<>();

    Lease(SemaphoreOperations operations, AcquireRequest request, Scheduler releases) {
        this.operations = operations;
        this.request = request;
        this.releases = releases;
    }

    /** Acquires, without a thread that waits. Empty when the subscription has ended meanwhile. */
    Mono<PermitGrant> acquire() {
        return Mono.create(this::acquire);
    }

    private void acquire(MonoSink<PermitGrant> subscriber) {
        CompletableFuture<PermitGrant> acquire = operations.acquireAsync(request);
        CompletableFuture<?> told = acquire.whenComplete((grant, failure) -> {
            if (failure != null) {
                if (state.get() != ENDED) {
                    subscriber.error(failure);
                }
            } else if (state.compareAndSet(null, grant)) {
                subscriber.success(grant);
            } else { // on another thread than the one that completes acquires
                releases.schedule(() -> GrantRelease.afterSuccess(grant));
                subscriber.success();
            }
        });
        subscriber.onCancel(() -> {
            state.compareAndSet(null, ENDED);
            boolean unused = acquire.cancel(true);
        });
    }

    /** Ends the lease of a subscription that was completed or cancelled. Never fails. */
    Mono<Void> end() {
        return end(GrantRelease::afterSuccess);
    }

    /** Ends the lease of a subscription that failed. Never fails. */
    Mono<Void> endAfter(Throwable failure) {
        return end(grant -> GrantRelease.afterFailure(grant, failure));
    }

    private Mono<Void> end(Consumer<PermitGrant> release) {
        Object held = state.getAndSet(ENDED);
        return held instanceof PermitGrant grant
                ? Mono.<Void>fromRunnable(() -> release.accept(grant)).subscribeOn(releases)
                : Mono.empty();
    }
}
