package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreException;
import io.dbsemaphore.jdbc.SqlErrors;
import java.util.Optional;

/** The database of the semaphores is there, but lets nobody, or not us, write. */
public final class DatabaseNotWritableException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    /** Why a database refuses writes. */
    public enum Reason {

        /** A replica, a server in read-only mode, or connections that are read-only. */
        READ_ONLY,

        /** MySQL and MariaDB write statements to the binary log, which is not possible at {@code READ COMMITTED}. */
        STATEMENT_BINLOG
    }

    private final Reason reason;

    private DatabaseNotWritableException(Reason reason, Throwable cause) {
        super(
                switch (reason) {
                    case READ_ONLY -> "The database of the semaphores is read-only";
                    case STATEMENT_BINLOG ->
                        "The database of the semaphores has binlog_format=STATEMENT and refuses writes at READ COMMITTED";
                },
                cause);
        this.reason = reason;
    }

    /** The exception to throw instead, where the database refused to write for one of these reasons. */
    public static Optional<DatabaseNotWritableException> of(Throwable failure) {
        if (SqlErrors.isReadOnly(failure)) {
            return Optional.of(new DatabaseNotWritableException(Reason.READ_ONLY, failure));
        }
        return SqlErrors.isStatementBinlog(failure)
                ? Optional.of(new DatabaseNotWritableException(Reason.STATEMENT_BINLOG, failure))
                : Optional.empty();
    }

    /** Why. */
    public Reason reason() {
        return reason;
    }
}
