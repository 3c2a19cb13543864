package io.dbsemaphore.jdbc;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientConnectionException;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Interprets errors of the database by the SQL state and vendor code of the innermost {@link SQLException}: the
 * exceptions that JPA and Spring wrap around it differ between databases, and between a statement and a commit.
 */
public final class SqlErrors {

    static final int MAX_DEPTH = 50;

    private SqlErrors() {}

    /**
     * Whether the server reported a conflict with another transaction, so that nothing was committed.
     */
    public static boolean isConflict(Throwable failure) {
        return isVictim(failure) || isLockWait(failure) || is(failure, SqlErrorKind.OBSTACLE);
    }

    /**
     * Whether the server has rolled the transaction back so that another one can proceed: after a deadlock, or at commit in a cluster if
     * two servers have written the same row.
     */
    public static boolean isVictim(Throwable failure) {
        return is(failure, SqlErrorKind.VICTIM) || is(failure, SqlErrorKind.VICTIM_AT_COMMIT);
    }

    /** Whether a row stayed locked by another transaction for longer than a statement waits. */
    public static boolean isLockWait(Throwable failure) {
        return is(failure, SqlErrorKind.LOCK_TIMEOUT);
    }

    /** Whether the server is a replica or in read-only mode, or the transaction or the connection is read-only. */
    public static boolean isReadOnly(Throwable failure) {
        return is(failure, SqlErrorKind.READ_ONLY)
                || root(failure)
                        .filter(error -> SqlErrorKind.state(error).equals("S1009")
                                && SqlErrorKind.message(error).startsWith("Connection is read-only"))
                        .isPresent();
    }

    /** Whether the connection is lost, so that the result of the last statement is unknown. */
    public static boolean isConnectionLost(Throwable failure) {
        return is(failure, SqlErrorKind.SESSION_ENDED)
                || root(failure)
                        .filter(error -> SqlErrorKind.state(error).startsWith("08")
                                || error instanceof SQLRecoverableException
                                || error instanceof SQLNonTransientConnectionException)
                        .isPresent();
    }

    /** Whether the pool provided no connection within its configured time. */
    public static boolean isPoolExhausted(Throwable failure) {
        return sqlErrors(failure)
                .anyMatch(error -> error instanceof SQLTransientConnectionException
                        && !SqlErrorKind.state(error).equals("25S03")); // MariaDB's driver, for a lost connection
    }

    /**
     * Whether the server reported the error; if so, a failed commit has not committed. Errors of a pool have no SQL
     * state.
     */
    public static boolean isAnswerOfServer(Throwable failure) {
        return root(failure)
                        .filter(error -> !SqlErrorKind.state(error).isEmpty())
                        .isPresent()
                && !isConnectionLost(failure);
    }

    /** Returns the innermost error, which is the driver's. */
    public static Optional<SQLException> root(Throwable failure) {
        return sqlErrors(failure).reduce((outer, inner) -> inner);
    }

    /** Returns the outermost {@link SQLException}, thrown by the driver or the pool, with its causes. */
    public static Optional<SQLException> outermost(Throwable failure) {
        return sqlErrors(failure).findFirst();
    }

    /** Whether the innermost error is of this kind. */
    public static boolean is(Throwable failure, SqlErrorKind kind) {
        return root(failure).filter(kind::fits).isPresent();
    }

    private static Stream<SQLException> sqlErrors(Throwable failure) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
                .limit(MAX_DEPTH)
                .filter(SQLException.class::isInstance)
                .map(SQLException.class::cast);
    }
}
