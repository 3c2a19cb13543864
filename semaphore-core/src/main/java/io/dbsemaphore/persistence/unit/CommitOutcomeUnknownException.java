package io.dbsemaphore.persistence.unit;

/** Thrown when a commit was not answered, so that it is unknown whether the transaction was committed. */
public final class CommitOutcomeUnknownException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public CommitOutcomeUnknownException(Throwable cause) {
        super("The database did not answer a commit", cause);
    }
}
