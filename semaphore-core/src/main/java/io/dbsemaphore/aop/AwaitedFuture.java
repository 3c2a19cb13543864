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
 * on the thread that completes the acquire, but never on the calling thread. Cancelling the future cancels the acquire or
 * the work.
 *
 * @param <T> the type of the result
 */
final class AwaitedFuture<T extends @Nullable Object> extends CompletableFuture<T> {

    private final MethodInvocation call;
    private final Refusal refusal;
    private final Executor threads;
    private volatile CompletionStage<?> current;

    private AwaitedFuture(
            CompletableFuture<PermitGrant> acquire, MethodInvocation call, Refusal refusal, Executor threads) {
        this.current = acquire;
        this.call = call;
        this.refusal = refusal;
        this.threads = threads;
    }

    /**
     * Calls the method when the permits are held.
     *
     * @param call a clone of the invocation, since the thread of the original proceeds
     * @param threads release the permits, and call the method if the permits are held at once
     */
    static AwaitedFuture<@Nullable Object> of(
            CompletableFuture<PermitGrant> acquire, MethodInvocation call, Refusal refusal, Executor threads) {
        AwaitedFuture<@Nullable Object> future = new AwaitedFuture<>(acquire, call, refusal, threads);
        CompletableFuture<?> unused =
                future.whenComplete((value, failure) -> acquire.cancel(true)); // no effect once it is complete
        Thread caller = Thread.currentThread();
        CompletableFuture<?> unusedToo = acquire.whenComplete((grant, failure) -> {
            boolean atOnce = Thread.currentThread() == caller && !acquire.isCancelled();
            Executor executor = atOnce ? threads : Runnable::run;
            executor.execute(() -> future.acquired(grant, failure));
        });
        return future;
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        CompletionStage<?> before = current;
        GuardedFuture.cancel(before, mayInterruptIfRunning);
        boolean cancelled = super.cancel(mayInterruptIfRunning);
        CompletionStage<?> now = current;
        if (cancelled && now != before) { // work that began meanwhile, and may have missed the cancellation
            GuardedFuture.cancel(now, mayInterruptIfRunning);
        }
        return cancelled;
    }

    private void acquired(@Nullable PermitGrant grant, @Nullable Throwable failure) {
        try {
            if (grant != null && isDone()) { // cancelled, or completed by the application
                GrantRelease.afterSuccess(grant);
            } else if (grant != null) {
                follow(GuardedFuture.start(call, grant, threads));
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
        current = stage;
        if (isCancelled()) {
            GuardedFuture.cancel(stage, true);
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
