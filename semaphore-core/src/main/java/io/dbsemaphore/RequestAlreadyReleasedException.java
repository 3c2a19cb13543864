package io.dbsemaphore;

/** The request with this external id was acquired before and has been released; it is never granted anew. */
public class RequestAlreadyReleasedException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    private final String externalId;

    /** Creates an exception for this id. */
    public RequestAlreadyReleasedException(String externalId) {
        super("The request with external id '" + externalId
                + "' has been released (or taken back after its expiry) and is"
                + " never granted anew; nothing was acquired. Use another external id for another piece of work");
        this.externalId = externalId;
    }

    /** The external id. */
    public String externalId() {
        return externalId;
    }
}
