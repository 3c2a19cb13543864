package io.dbsemaphore;

/**
 * Thrown when a request with this external id was acquired before and has been released. The library remembers the id for
 * {@code semaphore.maintenance.request-retention} (7 days), and meanwhile does not grant the request again.
 */
public class RequestAlreadyReleasedException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    /** The external id of the request. */
    private final String externalId;

    /**
     * Creates an exception for a request.
     *
     * @param externalId the external id of the request
     */
    public RequestAlreadyReleasedException(String externalId) {
        super("The request with external id '" + externalId
                + "' has been released, or reclaimed after it expired, and is"
                + " not granted again as long as it is remembered (semaphore.maintenance.request-retention). Nothing was"
                + " acquired. Use another external id for another piece of work");
        this.externalId = externalId;
    }

    /** {@return the external id of the request} */
    public String externalId() {
        return externalId;
    }
}
