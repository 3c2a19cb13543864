package io.dbsemaphore;

import org.jspecify.annotations.Nullable;

/**
 * The database went away between the commit of an acquire and its answer, and stayed away: whether the permits are held
 * cannot be known. The undoing goes on in the background until it succeeds or the time to live has passed.
 */
public class AcquireOutcomeUnknownException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    private final String externalId;

    /** Creates an exception for this id. */
    public AcquireOutcomeUnknownException(String externalId, @Nullable Throwable cause) {
        super(
                "Whether the acquire with external id '" + externalId + "' was granted is unknown: the database did not"
                        + " answer its commit and could not be asked since. Do not work under it; it is being undone in"
                        + " the background, and is never kept alive",
                cause);
        this.externalId = externalId;
    }

    /** The external id. */
    public String externalId() {
        return externalId;
    }
}
