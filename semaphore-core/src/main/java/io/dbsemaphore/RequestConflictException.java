package io.dbsemaphore;

/**
 * Thrown when the external id belongs to an earlier request for other semaphores or other counts. Nothing was acquired.
 */
public class RequestConflictException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    /** The external id of the request. */
    private final String externalId;

    /**
     * Creates an exception for a request.
     *
     * @param externalId the external id of the request
     * @param requested the semaphores and counts of the new request
     */
    public RequestConflictException(String externalId, String requested) {
        super(
                "The external id '%s' belongs to an earlier request for permits other than %s. Nothing was acquired. Use one"
                                .formatted(externalId, requested)
                        + " external id for one piece of work, with the same names and counts each time");
        this.externalId = externalId;
    }

    /** {@return the external id of the request} */
    public String externalId() {
        return externalId;
    }
}
