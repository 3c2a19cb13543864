package io.dbsemaphore.aop;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.Permits;
import io.dbsemaphore.PermitsUnavailableException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.function.SingletonSupplier;

/**
 * Guards a method whose work ends when the future that it returns completes.
 *
 * <p>Without a wait time, the guard acquires and calls the method on the calling thread, and throws the exceptions of the acquire.
 * It does the same with {@code @Async}, where Spring's executor waits for the future in any case. With a wait time, it returns a future at
 * once. When the permits are held, or were refused, a thread of this library calls the method or its fallback, never the calling thread. If
 * the acquire fails, so does the future.
 *
 * <p>The caller gets a {@link GuardedFuture}, which passes through up to two {@link Step}s:
 *
 * <pre>
 * the acquire --granted--> the work  --ended--> release --> complete
 *      |                      \--cancelled--> cancel the work, release --> cancelled
 *      |--refused--> the fallback or an empty result, without a grant
 *      \--cancelled--> cancel the acquire; a grant that arrives nevertheless is released
 * </pre>
 *
 * The release runs on a thread of this library, since the thread that ended the work may be an event loop. If the work has ended when the
 * method returns, the thread that called the method releases instead. The future completes after the release.
 */
final class FutureGuard extends MethodGuard {

    private final boolean waits;

    FutureGuard(Parts parts) {
        super(parts);
        this.waits = parts.requests().waits() && !parts.annotated().has(Async.class);
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // it is returned
    @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        if (waits) {
            MethodInvocation call = ((ProxyMethodInvocation) invocation).invocableClone(); // the original proceeds here
            try {
                return callWhenGranted(
                        parts.operations().get().acquireAsync(parts.requests().create(invocation)), call);
            } catch (Exception failure) {
                return CompletableFuture.failedFuture(failure);
            }
        }
        PermitGrant grant;
        try {
            grant = parts.operations().get().acquire(parts.requests().create(invocation));
        } catch (PermitsUnavailableException refused) {
            return parts.refusal().answer(invocation, refused);
        }
        CompletionStage<?> work = call(invocation, grant);
        return work == null ? null : new GuardedFuture(new Step(work, grant));
    }

    CompletableFuture<?> callWhenGranted(CompletableFuture<PermitGrant> acquire, MethodInvocation call) {
        GuardedFuture future = new GuardedFuture(acquire);
        CompletableFuture<?> unused =
                future.whenComplete((value, failure) -> acquire.cancel(true)); // no effect once it is complete
        Thread caller = Thread.currentThread();
        CompletableFuture<?> unusedToo = acquire.whenComplete((grant, failure) -> {
            boolean atOnce = Thread.currentThread() == caller && !acquire.isCancelled();
            boolean callsApplication = grant != null
                    || !parts.annotated().annotation().fallbackMethod().isEmpty();
            // the thread is one of those that complete acquires, which must not wait for the work or the fallback
            Executor executor = atOnce || callsApplication ? parts.threads() : Runnable::run;
            executor.execute(() -> future.acquired(call, grant, failure));
        });
        return future;
    }

    /** Calls the method. Releases at once if it throws or returns null. */
    private static @Nullable CompletionStage<?> call(MethodInvocation invocation, PermitGrant grant) throws Throwable {
        CompletionStage<?> work = null;
        try {
            work = (CompletionStage<?>) Permits.callHolding(grant, proceeding(invocation));
            return work;
        } finally {
            if (work == null) {
                grant.close();
            }
        }
    }

    /**
     * The stage that the caller waits for now, and that a cancellation ends: the acquire, the work or the fallback.
     *
     * @param grant the grant of the work; null for the acquire and the fallback
     * @param released releases the grant once
     */
    private record Step(CompletionStage<?> stage, @Nullable PermitGrant grant, SingletonSupplier<Boolean> released) {

        Step(CompletionStage<?> stage, @Nullable PermitGrant grant) {
            this(stage, grant, SingletonSupplier.of(() -> {
                if (grant != null) {
                    grant.close();
                }
                return true;
            }));
        }

        /** Cancels the stage if that is possible; otherwise it continues. */
        void cancel(boolean mayInterruptIfRunning) {
            try {
                future().cancel(mayInterruptIfRunning);
            } catch (UnsupportedOperationException notCancellable) {
                // not cancellable
            }
            end();
        }

        /** Releases the grant once. The end of the work and a cancellation may coincide: the later one waits. */
        void end() {
            released.get();
        }

        /** The stage as a future. If the stage has none, a future that never completes and is not connected with the stage. */
        CompletableFuture<?> future() {
            try {
                return stage.toCompletableFuture();
            } catch (UnsupportedOperationException notInteroperable) {
                return new CompletableFuture<>();
            }
        }
    }

    /** The future that the caller gets. */
    private final class GuardedFuture extends CompletableFuture<@Nullable Object> {

        private volatile Step current;

        /** A future of an acquire whose outcome is passed to {@link #acquired}. */
        GuardedFuture(CompletableFuture<PermitGrant> acquire) {
            current = new Step(acquire, null);
        }

        /** A future of work that has begun. */
        GuardedFuture(Step work) {
            current = work;
            follow(work);
        }

        @Override
        @SuppressWarnings("ReferenceEquality") // the same step, not an equal one
        public boolean cancel(boolean mayInterruptIfRunning) {
            Step before = current;
            before.cancel(mayInterruptIfRunning);
            boolean cancelled = super.cancel(mayInterruptIfRunning);
            Step now = current;
            if (cancelled && now != before) { // work that began meanwhile may have missed the cancellation
                now.cancel(mayInterruptIfRunning);
            }
            return cancelled;
        }

        void acquired(MethodInvocation invocation, @Nullable PermitGrant grant, @Nullable Throwable failure) {
            try {
                if (grant != null && isDone()) { // cancelled, or completed by the application
                    grant.close();
                } else if (grant != null) {
                    begin(call(invocation, grant), grant);
                } else if (failure instanceof PermitsUnavailableException refused) {
                    begin((CompletionStage<?>) parts.refusal().answer(invocation, refused), null);
                } else if (failure != null) {
                    completeExceptionally(failure);
                }
            } catch (Throwable thrown) {
                completeExceptionally(thrown);
            }
        }

        private void begin(@Nullable CompletionStage<?> stage, @Nullable PermitGrant grant) {
            if (stage == null) {
                complete(null);
                return;
            }
            Step step = new Step(stage, grant);
            current = step;
            if (isCancelled()) {
                step.cancel(true);
            }
            follow(step);
        }

        private void follow(Step step) {
            Executor executor = step.grant == null || step.future().isDone() ? Runnable::run : parts.threads();
            CompletionStage<?> unused = step.stage.whenComplete(
                    (value, failure) -> executor.execute(() -> completeAfterRelease(step, value, failure)));
        }

        private void completeAfterRelease(Step step, @Nullable Object value, @Nullable Throwable failure) {
            step.end();
            if (failure != null) {
                completeExceptionally(failure);
            } else {
                complete(value);
            }
        }
    }
}
