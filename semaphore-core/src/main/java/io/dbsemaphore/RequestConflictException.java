package io.dbsemaphore;

/** The external id belongs to an earlier request for other semaphores or other counts. */
public class RequestConflictException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    private final String externalId;

    /**
     * Creates an exception for this id.
     *
     * @param requested what was asked for now
     */
    public RequestConflictException(String externalId, String requested) {
        super(
                "The external id '%s' belongs to an earlier request for other permits than %s; nothing was acquired. Use one"
                                .formatted(externalId, requested)
                        + " external id for one piece of work, with the same names and counts each time");
        this.externalId = externalId;
    }

    /** The external id. */
    public String externalId() {
        return externalId;
    }
}
