package io.dbsemaphore.aop;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreOperations;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * What one subscription holds. It may be cancelled at any time, also while it acquires: a grant that comes too late is
 * given back by the acquire itself, so that each is released exactly once.
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

    /** Acquires, blocking. Returns {@code null} when the subscription has ended meanwhile. */
    @Nullable PermitGrant acquire() {
        if (state.get() == ENDED) {
            return null;
        }
        PermitGrant grant;
        try {
            grant = operations.acquire(request);
        } catch (RuntimeException failure) {
            if (state.get() == ENDED) {
                return null;
            }
            throw failure;
        }
        if (state.compareAndSet(null, grant)) {
            return grant;
        }
        // On another thread: the cancellation has interrupted this one
        releases.schedule(() -> GrantRelease.afterSuccess(grant));
        return null;
    }

    /** Ends the lease where nothing has been acquired yet. What is being acquired will not be kept. */
    void abandon() {
        state.compareAndSet(null, ENDED);
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
