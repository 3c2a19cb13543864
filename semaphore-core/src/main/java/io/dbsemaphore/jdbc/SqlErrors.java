package io.dbsemaphore.jdbc;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientConnectionException;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What an error of a database means for a transaction of ours, judged by the SQL state and vendor code of the innermost
 * {@link SQLException}: the exceptions that JPA and Spring wrap around it differ between databases and between a
 * statement and a commit.
 */
public final class SqlErrors {

    /** The transaction lost against another one, at once; the same work in a new transaction may succeed. */
    private static final Set<String> VICTIM_STATES = Set.of(
            "40001", // serialization failure, deadlock (MySQL 1213, H2, PostgreSQL)
            "40P01", // deadlock (PostgreSQL)
            "40000"); // rolled back (MySQL 3101, Group Replication certification)

    private static final Set<Integer> VICTIM_CODES = Set.of(
            1213, // deadlock, and Galera certification (MySQL, MariaDB)
            3101); // Group Replication certification (MySQL)

    /** Another transaction was in the way in some other manner, mostly for as long as one waits. */
    private static final Set<String> OBSTACLE_STATES = Set.of(
            "55P03", // lock not available (PostgreSQL lock_timeout)
            "HYT00"); // lock timeout (H2)

    private static final Set<Integer> OBSTACLE_CODES = Set.of(
            1205, // lock wait timeout; only the statement is rolled back (MySQL, MariaDB)
            1020, // innodb_snapshot_isolation (MariaDB)
            1047, // node not in the primary component, "unknown command" while it joins (Galera)
            50200, // lock timeout (H2)
            90131); // concurrent update (H2)

    private static final int LOCK_REFUSED = 3572; // NOWAIT (MySQL)

    /** The server ended the session by itself; its transaction is rolled back. */
    private static final Set<String> SESSION_ENDED_STATES = Set.of("57P01", "57P02", "57P03", "25P03", "70100");

    private static final Set<Integer> SESSION_ENDED_CODES = Set.of(
            4031, // wait_timeout (MySQL)
            1927); // connection killed (MariaDB)

    private static final Set<Integer> READ_ONLY_CODES = Set.of(
            1290, // read_only, super_read_only (MySQL, MariaDB)
            1836, // read-only mode (MySQL)
            1874, // innodb_read_only (MySQL)
            90097); // opened read-only (H2)

    private static final int STATEMENT_BINLOG = 1665;

    private static final int MAX_DEPTH = 50;

    private SqlErrors() {}

    /** Another transaction was in the way, and the server said so: nothing of ours is committed. */
    public static boolean isConflict(Throwable failure) {
        return isVictim(failure) || hasAny(failure, OBSTACLE_STATES, OBSTACLE_CODES);
    }

    /**
     * The server has rolled the transaction back, at once, so that another one can go on: a deadlock, or the certification
     * of a cluster, by which two servers find out at a commit that they were at the same row.
     */
    public static boolean isVictim(Throwable failure) {
        return hasAny(failure, VICTIM_STATES, VICTIM_CODES);
    }

    /** A row was locked, and the statement said that it was not to wait for it; the transaction can go on (MySQL 3572). */
    public static boolean isLockRefused(Throwable failure) {
        return hasAny(failure, Set.of(), Set.of(LOCK_REFUSED));
    }

    /** A unique key exists already. */
    public static boolean isDuplicateKey(Throwable failure) {
        return root(failure)
                .filter(error -> error.getErrorCode() == 1062 || state(error).equals("23505"))
                .isPresent();
    }

    /** A table does not exist. */
    public static boolean isMissingTable(Throwable failure) {
        return root(failure)
                .filter(error -> error.getErrorCode() == 1146
                        || Set.of("42S02", "42P01", "42S04").contains(state(error)))
                .isPresent();
    }

    /** A replica, a server in read-only mode, a read-only transaction, or a connection that its driver keeps read-only. */
    public static boolean isReadOnly(Throwable failure) {
        return root(failure)
                .filter(error -> READ_ONLY_CODES.contains(error.getErrorCode())
                        || state(error).equals("25006")
                        || (state(error).equals("S1009") && message(error).startsWith("Connection is read-only")))
                .isPresent();
    }

    /** {@code binlog_format=STATEMENT} refuses writes at {@code READ COMMITTED} (MySQL, MariaDB). */
    public static boolean isStatementBinlog(Throwable failure) {
        return root(failure)
                .filter(error -> error.getErrorCode() == STATEMENT_BINLOG)
                .isPresent();
    }

    /** The connection is gone; what the server made of the last statement is not known. */
    public static boolean isConnectionLost(Throwable failure) {
        return root(failure)
                .filter(error -> state(error).startsWith("08")
                        || SESSION_ENDED_STATES.contains(state(error))
                        || SESSION_ENDED_CODES.contains(error.getErrorCode())
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

    private static boolean hasAny(Throwable failure, Set<String> states, Set<Integer> codes) {
        return root(failure)
                .filter(error -> states.contains(state(error)) || codes.contains(error.getErrorCode()))
                .isPresent();
    }

    private static Stream<Throwable> chain(Throwable failure) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause).limit(MAX_DEPTH);
    }

    private static String message(SQLException error) {
        @Nullable String message = error.getMessage();
        return message == null ? "" : message;
    }

    private static String state(SQLException error) {
        @Nullable String state = error.getSQLState();
        return state == null ? "" : state;
    }
}
