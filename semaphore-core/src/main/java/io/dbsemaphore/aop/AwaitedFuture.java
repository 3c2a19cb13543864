package io.dbsemaphore.aop;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * The future of guarded work whose permits are acquired asynchronously. The method is called when the permits are held,
 * on the thread that completes the acquire. Cancelling the future cancels the acquire or the work.
 *
 * @param <T> the type of the result
 */
final class AwaitedFuture<T extends @Nullable Object> extends CompletableFuture<T> {

    private final MethodInvocation call;
    private final Refusal refusal;
    private final Executor releases;
    private volatile CompletableFuture<?> current;

    private AwaitedFuture(
            CompletableFuture<PermitGrant> acquire, MethodInvocation call, Refusal refusal, Executor releases) {
        this.current = acquire;
        this.call = call;
        this.refusal = refusal;
        this.releases = releases;
    }

    /** @param call a clone of the invocation, since the thread of the original proceeds */
    static AwaitedFuture<@Nullable Object> of(
            CompletableFuture<PermitGrant> acquire, MethodInvocation call, Refusal refusal, Executor releases) {
        AwaitedFuture<@Nullable Object> future = new AwaitedFuture<>(acquire, call, refusal, releases);
        CompletableFuture<?> unused =
                future.whenComplete((value, failure) -> acquire.cancel(true)); // no effect once it is complete
        CompletableFuture<?> unusedToo = acquire.whenComplete((grant, failure) -> future.acquired(grant, failure));
        return future;
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        current.cancel(mayInterruptIfRunning);
        return super.cancel(mayInterruptIfRunning);
    }

    private void acquired(@Nullable PermitGrant grant, @Nullable Throwable failure) {
        try {
            if (grant != null && isDone()) { // cancelled, or completed by the application
                GrantRelease.afterSuccess(grant);
            } else if (grant != null) {
                follow(GuardedFuture.start(call, grant, releases));
            } else if (failure instanceof PermitsUnavailableException refused) {
                follow(refusal.answer(call, refused));
            } else if (failure != null) {
                completeExceptionally(failure);
            }
        } catch (Throwable thrown) {
            completeExceptionally(thrown);
        }
    }

    @SuppressWarnings("unchecked") // the method or its fallback returns what the caller expects
    private void follow(@Nullable Object work) {
        if (work == null) {
            complete((T) null);
            return;
        }
        CompletionStage<T> stage = (CompletionStage<T>) work;
        if (work instanceof CompletableFuture<?> future) {
            current = future;
            if (isCancelled()) {
                future.cancel(true);
            }
        }
        stage.whenComplete((value, failure) -> {
            if (failure == null) {
                complete(value);
            } else {
                completeExceptionally(failure);
            }
        });
    }
}
