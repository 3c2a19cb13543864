package io.dbsemaphore.aop;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.Permits;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * The future of guarded work. Completes as the work does, after its permits have been released. Cancelling it cancels
 * the work and releases the permits.
 *
 * @param <T> the type of the result
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
     * Calls the method, and releases the grant at once if it throws or returns no future.
     *
     * @return the guarded future; null if the method returned null
     */
    static @Nullable CompletionStage<?> start(MethodInvocation call, PermitGrant grant, Executor releases)
            throws Throwable {
        try {
            Object work = Permits.callHolding(grant, new Proceeding(call));
            if (work != null) {
                return of((CompletionStage<?>) work, grant, releases);
            }
        } catch (Throwable failure) {
            GrantRelease.afterFailure(grant, failure);
            throw failure;
        }
        GrantRelease.afterSuccess(grant);
        return null;
    }

    /**
     * Guards work that has started. Work that has already ended is released on this thread, all other work on the
     * executor; if the executor rejects the release, on the thread that ends the work.
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
        } catch (Throwable rejected) { // by an executor that is shut down or has no thread
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
        cancel(work, mayInterruptIfRunning);
        Throwable releaseFailure = release();
        if (releaseFailure != null) {
            GrantRelease.logFailure(grant, releaseFailure);
        }
        return super.cancel(mayInterruptIfRunning);
    }

    /** Cancels work if that is possible. If it is not, the work continues: cancellation is a request. */
    static void cancel(CompletionStage<?> work, boolean mayInterruptIfRunning) {
        try {
            boolean unused = work.toCompletableFuture().cancel(mayInterruptIfRunning);
        } catch (UnsupportedOperationException notCancellable) {
            // It continues
        }
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

    /** Releases the grant, or waits for a concurrent release: the end of the work and a cancellation may coincide. */
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
