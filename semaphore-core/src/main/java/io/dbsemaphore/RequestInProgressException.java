package io.dbsemaphore;

/** The request with this external id is held already: running the work again would be twice under one permit. */
public class RequestInProgressException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    private final String externalId;
    private final String owner;

    /** Creates an exception for this id and its holder. */
    public RequestInProgressException(String externalId, String owner) {
        super(
                "The request with external id '%s' is held already, by owner '%s'; the work was not run. If that holder is"
                                .formatted(externalId, owner)
                        + " gone and this is its restart, say withAdopt(true)");
        this.externalId = externalId;
        this.owner = owner;
    }

    /** The external id. */
    public String externalId() {
        return externalId;
    }

    /** Who holds it. */
    public String owner() {
        return owner;
    }
}
