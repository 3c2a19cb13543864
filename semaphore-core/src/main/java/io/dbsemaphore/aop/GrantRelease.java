package io.dbsemaphore.aop;

import io.dbsemaphore.PermitGrant;
import java.util.concurrent.CompletionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Releases a grant when the work has ended. A failure of the release does not change the outcome of the work. */
final class GrantRelease {

    private static final Logger log = LoggerFactory.getLogger(GrantRelease.class);

    private GrantRelease() {}

    /** Releases after work that succeeded or was cancelled; a failure is logged. */
    static void afterSuccess(PermitGrant grant) {
        try {
            grant.release();
        } catch (Throwable releaseFailure) {
            logFailure(grant, releaseFailure);
        }
    }

    /** Releases after work that failed; a failure of the release is added to it as a suppressed exception. */
    static void afterFailure(PermitGrant grant, Throwable failure) {
        try {
            grant.release();
        } catch (Throwable releaseFailure) {
            suppress(failure, releaseFailure);
        }
    }

    static void logFailure(PermitGrant grant, Throwable releaseFailure) {
        log.warn(
                "The work under grant {} on {} succeeded, but the release of its permits failed. The release is repeated in"
                        + " the background; the permits are available when their TTL has passed at the latest",
                grant.externalId(),
                grant.permits(),
                releaseFailure);
    }

    static void suppress(Throwable failure, Throwable releaseFailure) {
        // A future passes the wrapped exception to its dependents
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : null;
        Throwable seen = cause == null ? failure : cause;
        if (seen != releaseFailure) {
            seen.addSuppressed(releaseFailure);
        }
    }
}
