package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreException;
import io.dbsemaphore.jdbc.SqlErrorKind;
import io.dbsemaphore.jdbc.SqlErrors;
import java.util.Optional;

/** Thrown when the database of the semaphores can be reached but rejects writes, or denies the user access to its tables. */
public final class DatabaseNotWritableException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    /** The reason why a database rejects writes. */
    public enum Reason {

        /** The server is a replica or in read-only mode, or the connections are read-only. */
        READ_ONLY,

        /** MySQL or MariaDB with {@code binlog_format=STATEMENT}, which rejects writes at {@code READ COMMITTED}. */
        STATEMENT_BINLOG,

        /** The user of the connections lacks a privilege on a table of the semaphores. */
        DENIED
    }

    /** Why the database rejects writes. */
    private final Reason reason;

    private DatabaseNotWritableException(Reason reason, Throwable cause) {
        super(
                switch (reason) {
                    case READ_ONLY -> "The database of the semaphores is read-only";
                    case STATEMENT_BINLOG ->
                        "The database of the semaphores has binlog_format=STATEMENT and refuses writes at READ COMMITTED";
                    case DENIED -> "The database user lacks a privilege that the semaphores need";
                },
                cause);
        this.reason = reason;
    }

    /**
     * Translates a failure that was caused by a rejected write.
     *
     * @param failure the failure
     * @return the exception to throw instead; empty if the failure has another cause
     */
    public static Optional<DatabaseNotWritableException> of(Throwable failure) {
        if (SqlErrors.isReadOnly(failure)) {
            return Optional.of(new DatabaseNotWritableException(Reason.READ_ONLY, failure));
        }
        if (SqlErrors.is(failure, SqlErrorKind.DENIED)) {
            return Optional.of(new DatabaseNotWritableException(Reason.DENIED, failure));
        }
        return SqlErrors.is(failure, SqlErrorKind.STATEMENT_BINLOG)
                ? Optional.of(new DatabaseNotWritableException(Reason.STATEMENT_BINLOG, failure))
                : Optional.empty();
    }

    /** {@return why the database rejects writes} */
    public Reason reason() {
        return reason;
    }
}
