package io.dbsemaphore.persistence.unit;

/** A commit was sent and not answered. */
public final class CommitOutcomeUnknownException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    CommitOutcomeUnknownException(Throwable cause) {
        super("The database did not answer a commit", cause);
    }

    /** The exception for the caller once it is known that the transaction was not committed. */
    public RuntimeException translatedCause() {
        Throwable cause = getCause();
        return cause == null ? this : DataAccessFailures.translate(cause);
    }
}
