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
 * The grant of one subscription. The subscription may be cancelled at any time, also while the acquire is pending: this
 * ends the acquire, and releases a grant that arrives later, so that each grant is released exactly once.
 */
final class SubscriptionGrant {

    private static final Object ENDED = new Object();

    private final SemaphoreOperations operations;
    private final AcquireRequest request;
    private final Scheduler releases;
    private final AtomicReference<@Nullable Object> state = new AtomicReference<>();

    SubscriptionGrant(SemaphoreOperations operations, AcquireRequest request, Scheduler releases) {
        this.operations = operations;
        this.request = request;
        this.releases = releases;
    }

    /** Acquires without blocking a thread. Empty if the subscription has ended meanwhile. */
    Mono<PermitGrant> acquire() {
        return Mono.create(this::acquire);
    }

    private void acquire(MonoSink<PermitGrant> subscriber) {
        CompletableFuture<PermitGrant> acquire = operations.acquireAsync(request);
        CompletableFuture<?> unusedToo = acquire.whenComplete((grant, failure) -> {
            if (failure != null) {
                if (state.get() != ENDED) {
                    subscriber.error(failure);
                }
            } else if (state.compareAndSet(null, grant)) {
                subscriber.success(grant);
            } else { // not on the thread that completes acquires
                releases.schedule(() -> GrantRelease.afterSuccess(grant));
                subscriber.success();
            }
        });
        subscriber.onCancel(() -> {
            state.compareAndSet(null, ENDED);
            boolean unused = acquire.cancel(true);
        });
    }

    /** Releases the grant of a subscription that completed or was cancelled. Never fails. */
    Mono<Void> end() {
        return end(GrantRelease::afterSuccess);
    }

    /** Releases the grant of a subscription that failed. Never fails. */
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
