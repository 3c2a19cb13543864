package io.dbsemaphore.aop;

import io.dbsemaphore.PermitGrant;
import java.util.concurrent.CompletionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Releases when the work has ended. A release that fails never changes how the work ended. */
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

    /** Releases after work that failed; a failure is added to the one of the work, as suppressed. */
    static void afterFailure(PermitGrant grant, Throwable failure) {
        try {
            grant.release();
        } catch (Throwable releaseFailure) {
            suppress(failure, releaseFailure);
        }
    }

    static void logFailure(PermitGrant grant, Throwable releaseFailure) {
        log.warn(
                "The work of {} on {} is done, but its permits could not be released yet; at the latest they are free"
                        + " when their TTL has passed",
                grant.externalId(),
                grant.permits(),
                releaseFailure);
    }

    static void suppress(Throwable failure, Throwable releaseFailure) {
        // What a future wraps is what its callers get to see
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : null;
        Throwable seen = cause == null ? failure : cause;
        if (seen != releaseFailure) {
            seen.addSuppressed(releaseFailure);
        }
    }
}
