package io.dbsemaphore;

/**
 * Thrown when a request with this external id is already held: the work would run twice under one permit.
 */
public class RequestInProgressException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    /** The external id of the request. */
    private final String externalId;
    /** The owner that holds the request. */
    private final String owner;

    /**
     * Creates an exception for a request.
     *
     * @param externalId the external id of the request
     * @param owner the owner that holds it
     */
    public RequestInProgressException(String externalId, String owner) {
        super("The request with external id '%s' is already held by owner '%s'; the work was not run. If that holder no"
                        .formatted(externalId, owner)
                + " longer runs and this is its restart, use withAdopt(true)");
        this.externalId = externalId;
        this.owner = owner;
    }

    /** {@return the external id of the request} */
    public String externalId() {
        return externalId;
    }

    /** {@return the owner that holds the request} */
    public String owner() {
        return owner;
    }
}
