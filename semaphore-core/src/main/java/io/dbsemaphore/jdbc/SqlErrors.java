package io.dbsemaphore.jdbc;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientConnectionException;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What an error of a database means for a transaction of ours, judged by the SQL state and vendor code of the innermost
 * {@link SQLException}: the exceptions that JPA and Spring wrap around it differ between databases and between a
 * statement and a commit.
 */
public final class SqlErrors {

    static final int MAX_DEPTH = 50;

    private SqlErrors() {}

    /** Another transaction was in the way, and the server said so: nothing of ours is committed. */
    public static boolean isConflict(Throwable failure) {
        return isVictim(failure) || is(failure, SqlErrorKind.OBSTACLE);
    }

    /**
     * The server has rolled the transaction back, at once, so that another one can go on: a deadlock, or the certification
     * of a cluster, by which two servers find out at a commit that they were at the same row.
     */
    public static boolean isVictim(Throwable failure) {
        return is(failure, SqlErrorKind.VICTIM) || is(failure, SqlErrorKind.VICTIM_AT_COMMIT);
    }

    /** A row was locked by another transaction for longer than a statement waits. */
    public static boolean isLockWait(Throwable failure) {
        return is(failure, SqlErrorKind.OBSTACLE);
    }

    /** A row was locked, and the statement said that it was not to wait for it; the transaction can go on (MySQL 3572). */
    public static boolean isLockRefused(Throwable failure) {
        return is(failure, SqlErrorKind.LOCK_REFUSED);
    }

    /** A unique key exists already. */
    public static boolean isDuplicateKey(Throwable failure) {
        return is(failure, SqlErrorKind.DUPLICATE_KEY);
    }

    /** A table does not exist. */
    public static boolean isMissingTable(Throwable failure) {
        return is(failure, SqlErrorKind.MISSING_TABLE);
    }

    /** A replica, a server in read-only mode, a read-only transaction, or a connection that its driver keeps read-only. */
    public static boolean isReadOnly(Throwable failure) {
        return is(failure, SqlErrorKind.READ_ONLY)
                || root(failure)
                        .filter(error ->
                                state(error).equals("S1009") && message(error).startsWith("Connection is read-only"))
                        .isPresent();
    }

    /** {@code binlog_format=STATEMENT} refuses writes at {@code READ COMMITTED} (MySQL, MariaDB). */
    public static boolean isStatementBinlog(Throwable failure) {
        return is(failure, SqlErrorKind.STATEMENT_BINLOG);
    }

    /** The connection is gone; what the server made of the last statement is not known. */
    public static boolean isConnectionLost(Throwable failure) {
        return is(failure, SqlErrorKind.SESSION_ENDED)
                || root(failure)
                        .filter(error -> state(error).startsWith("08")
                                || error instanceof SQLRecoverableException
                                || error instanceof SQLNonTransientConnectionException)
                        .isPresent();
    }

    /** The pool gave no connection, after it had waited for one as long as the host configured it to. */
    public static boolean isPoolExhausted(Throwable failure) {
        return chain(failure).anyMatch(SQLTransientConnectionException.class::isInstance);
    }

    /** The server has answered: a failed commit with such an error has not committed. A pool's own errors have no state. */
    public static boolean isAnswerOfServer(Throwable failure) {
        return root(failure).filter(error -> !state(error).isEmpty()).isPresent() && !isConnectionLost(failure);
    }

    /** The innermost error of the driver. */
    public static Optional<SQLException> root(Throwable failure) {
        return chain(failure)
                .filter(SQLException.class::isInstance)
                .map(SQLException.class::cast)
                .reduce((outer, inner) -> inner);
    }

    /** What the driver or the pool threw, with all that it was caused by. */
    public static Optional<SQLException> outermost(Throwable failure) {
        return chain(failure)
                .filter(SQLException.class::isInstance)
                .map(SQLException.class::cast)
                .findFirst();
    }

    /** Whether the innermost error is one of this kind. */
    public static boolean is(Throwable failure, SqlErrorKind kind) {
        return root(failure).filter(kind::fits).isPresent();
    }

    private static Stream<Throwable> chain(Throwable failure) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause).limit(MAX_DEPTH);
    }

    static String message(SQLException error) {
        @Nullable String message = error.getMessage();
        return message == null ? "" : message;
    }

    static String state(SQLException error) {
        @Nullable String state = error.getSQLState();
        return state == null ? "" : state;
    }
}
