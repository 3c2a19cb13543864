package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreException;
import io.dbsemaphore.jdbc.SqlErrorKind;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.persistence.unit.TableName;
import io.dbsemaphore.spi.StartFailure;
import java.util.Optional;

/** Thrown when the database of the semaphores can be reached, but rejects writes or denies the user access to its tables. */
public final class DatabaseNotWritableException extends SemaphoreException implements StartFailure {

    private static final long serialVersionUID = 1L;

    private static final String READ_ONLY = """
            Semaphores need a writable database: a replica lags behind and does not know the current holders. \
            Do one of these:

                - Connect to the primary: spring.datasource.url (semaphore.datasource.url where that is set), and no \
            spring.datasource.hikari.read-only=true

                - Set semaphore.datasource to the name of a DataSource bean that is connected to the primary

                - If this is the primary, end its read-only mode (MySQL: super_read_only and read_only; MariaDB: \
            read_only; PostgreSQL: default_transaction_read_only)""";

    private static final String STATEMENT_BINLOG = """
            Semaphores use READ COMMITTED, which requires row-based logging. Set binlog_format=ROW (or MIXED) in the \
            configuration of the server, or on the running server:

                set global binlog_format = 'ROW';

            This applies to connections that are opened afterwards.""";

    private static final String DENIED = """
            As an administrator, grant the user of spring.datasource.username (semaphore.datasource.username where that is \
            set) these privileges, which it needs at run time:

            %s

            The clean-up of the maintenance also needs delete on all of them. If the user is to create the tables \
            (semaphore.liquibase.enabled, semaphore.jdbc.initialize-schema), it also needs what that takes, such as CREATE, ALTER, INDEX \
            and REFERENCES. If a policy of row-level security hides rows, connect as the owner of the tables or as a role with \
            BYPASSRLS.""";

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
    /** The prefix of the tables. */
    private final String tablePrefix;

    private DatabaseNotWritableException(Reason reason, String tablePrefix, Throwable cause) {
        super(
                switch (reason) {
                    case READ_ONLY -> "The database of the semaphores is read-only";
                    case STATEMENT_BINLOG ->
                        "The database of the semaphores has binlog_format=STATEMENT and rejects writes at READ COMMITTED";
                    case DENIED -> "The database user lacks a privilege that the semaphores need";
                },
                cause);
        this.reason = reason;
        this.tablePrefix = tablePrefix;
    }

    /**
     * Translates a failure that was caused by a rejected write.
     *
     * @param failure the failure
     * @param tablePrefix the prefix of the tables
     * @return the exception to throw instead; empty if the failure has another cause
     */
    public static Optional<DatabaseNotWritableException> of(Throwable failure, String tablePrefix) {
        if (SqlErrors.isReadOnly(failure)) {
            return Optional.of(new DatabaseNotWritableException(Reason.READ_ONLY, tablePrefix, failure));
        }
        if (SqlErrors.is(failure, SqlErrorKind.DENIED)) {
            return Optional.of(new DatabaseNotWritableException(Reason.DENIED, tablePrefix, failure));
        }
        return SqlErrors.is(failure, SqlErrorKind.STATEMENT_BINLOG)
                ? Optional.of(new DatabaseNotWritableException(Reason.STATEMENT_BINLOG, tablePrefix, failure))
                : Optional.empty();
    }

    /** {@return why the database rejects writes} */
    public Reason reason() {
        return reason;
    }

    @Override
    public String description() {
        return "%s. The database reports: %s"
                .formatted(
                        getMessage(),
                        SqlErrors.root(this).map(Throwable::getMessage).orElse(""));
    }

    @Override
    public String action() {
        return switch (reason) {
            case READ_ONLY -> READ_ONLY;
            case STATEMENT_BINLOG -> STATEMENT_BINLOG;
            case DENIED -> DENIED.formatted(TableName.each("    grant %2$s on " + tablePrefix + "%1$s to ...;", "\n"));
        };
    }
}
