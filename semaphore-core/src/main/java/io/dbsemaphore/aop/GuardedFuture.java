package io.dbsemaphore.aop;

import io.dbsemaphore.PermitGrant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;

/**
 * The future of guarded work: completes as the work does, but after its permits were released. Cancelling it cancels the
 * work and releases.
 *
 * @param <T> what the work comes to
 */
final class GuardedFuture<T extends @Nullable Object> extends CompletableFuture<T> {

    private final CompletionStage<T> work;
    private final PermitGrant grant;
    private final FutureTask<?> release;

    private GuardedFuture(CompletionStage<T> work, PermitGrant grant) {
        this.work = work;
        this.grant = grant;
        this.release = new FutureTask<>(grant::release);
    }

    /**
     * Guards work that was begun. What has ended already is released on this thread, all else by the executor; where that
     * has no thread for it, on the thread that ends the work.
     */
    static <T extends @Nullable Object> GuardedFuture<T> of(
            CompletionStage<T> work, PermitGrant grant, Executor releases) {
        GuardedFuture<T> future = new GuardedFuture<>(work, grant);
        Executor executor = hasEnded(work) ? Runnable::run : releases;
        CompletionStage<T> unused = work.whenComplete((value, failure) -> future.endOn(executor, value, failure));
        return future;
    }

    private void endOn(Executor executor, T value, @Nullable Throwable failure) {
        try {
            executor.execute(() -> end(value, failure));
        } catch (Throwable refused) { // shut down, or without a thread: the permits must not stay held for that
            end(value, failure);
        }
    }

    private static boolean hasEnded(CompletionStage<?> work) {
        try {
            return work.toCompletableFuture().isDone();
        } catch (UnsupportedOperationException unknowable) {
            return false;
        }
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        try {
            work.toCompletableFuture().cancel(mayInterruptIfRunning);
        } catch (UnsupportedOperationException notCancellable) {
            // It goes on, and so be it: cancelling has always been a request
        }
        Throwable releaseFailure = release();
        if (releaseFailure != null) {
            GrantRelease.logFailure(grant, releaseFailure);
        }
        return super.cancel(mayInterruptIfRunning);
    }

    private void end(T value, @Nullable Throwable failure) {
        try {
            Throwable releaseFailure = release();
            if (releaseFailure != null && failure != null) {
                GrantRelease.suppress(failure, releaseFailure);
            } else if (releaseFailure != null) {
                GrantRelease.logFailure(grant, releaseFailure);
            }
        } finally {
            if (failure != null) {
                completeExceptionally(failure);
            } else {
                complete(value);
            }
        }
    }

    /** Releases, or waits for whoever does: the end of the work and a cancellation may meet. */
    private @Nullable Throwable release() {
        release.run();
        try {
            release.get();
            return null;
        } catch (ExecutionException failed) {
            return failed.getCause();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return null;
        }
    }
}
