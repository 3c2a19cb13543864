package io.dbsemaphore;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when it is unknown whether the permits are held: the database was unreachable or too slow, and did not answer the commit of the
 * grant before the caller's deadline. The library tries to undo the acquire in the background until that succeeds or the time to live of
 * the request has passed. The grant is not kept alive.
 */
public class AcquireOutcomeUnknownException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    /** The external id of the request. */
    private final String externalId;

    /**
     * Creates an exception for a request.
     *
     * @param externalId the external id of the request
     * @param cause the failure of the last attempt, if known
     */
    public AcquireOutcomeUnknownException(String externalId, @Nullable Throwable cause) {
        super(
                "It is unknown whether the acquire with external id '" + externalId + "' was granted: the database has"
                        + " not answered its commit in time. Do not start the work; the"
                        + " acquire is being undone in the background, and is never kept alive",
                cause);
        this.externalId = externalId;
    }

    /** {@return the external id of the request} */
    public String externalId() {
        return externalId;
    }
}
