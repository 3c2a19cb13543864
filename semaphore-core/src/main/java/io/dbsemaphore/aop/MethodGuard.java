package io.dbsemaphore.aop;

import io.dbsemaphore.PermitCallback;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreOperations;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Acquires permits before calls of one method and releases them when the work has ended. The subclasses differ in when
 * that is. A failure of the release does not change the outcome of the work. Thread-safe.
 */
abstract class MethodGuard {

    private static final Logger log = LoggerFactory.getLogger(MethodGuard.class);

    final Parts parts;

    /**
     * The parts of a guard.
     *
     * @param threads release the permits, and call the method if an asynchronous acquire is granted at once
     */
    record Parts(
            AnnotatedMethod annotated,
            Supplier<SemaphoreOperations> operations,
            RequestTemplate requests,
            Refusal refusal,
            Executor threads) {}

    MethodGuard(Parts parts) {
        this.parts = parts;
    }

    /**
     * Calls the method under its permits.
     *
     * @throws Throwable the exception of the method, unchanged, or the reason why it was not called
     */
    abstract @Nullable Object invoke(MethodInvocation invocation) throws Throwable;

    /** The method as work under permits. */
    @SuppressWarnings("NullAway") // T is @Nullable Object, which only its JSpecify mode understands
    static PermitCallback<@Nullable Object, Throwable> proceeding(MethodInvocation invocation) {
        return grant -> invocation.proceed();
    }

    /**
     * Releases the grant of work that has ended.
     *
     * @param failure of the work, which gets a failure of the release as a suppressed exception; null if the work succeeded
     *     or was cancelled, a failure of the release is logged then
     */
    static void release(PermitGrant grant, @Nullable Throwable failure) {
        try {
            grant.release();
        } catch (RuntimeException releaseFailure) {
            if (failure == null) {
                log.warn(
                        "The work under grant {} on {} succeeded, but the release of its permits failed. The release is repeated in"
                                + " the background; the permits are available when their TTL has passed at the latest",
                        grant.externalId(),
                        grant.permits(),
                        releaseFailure);
                return;
            }
            // A future passes the wrapped exception to its dependents
            Throwable cause = failure instanceof CompletionException ? failure.getCause() : null;
            Throwable seen = cause == null ? failure : cause;
            if (seen != releaseFailure) {
                seen.addSuppressed(releaseFailure);
            }
        }
    }
}
