package io.dbsemaphore.jdbc;

import java.sql.SQLException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The errors of the supported databases that the library distinguishes, by SQL state and vendor code. The table for
 * operators is {@code docs/databases.md}; a test compares the two.
 */
public enum SqlErrorKind {

    /** The database chose the transaction as the victim of a conflict and has rolled it back. */
    VICTIM(
            Set.of(
                    "40001", // serialization failure, deadlock (MySQL 1213, PostgreSQL, H2)
                    "40P01", // deadlock (PostgreSQL)
                    "40000"), // rolled back (MySQL 3101)
            Set.of(
                    1213, // deadlock, and certification by Galera (MySQL, MariaDB)
                    3101)), // certification by Group Replication (MySQL)

    /** The same, by an error code with several meanings: {@code Got error 149 … during COMMIT}. */
    VICTIM_AT_COMMIT(Set.of(), Set.of(1180)) {
        @Override
        boolean fits(SQLException error) {
            return super.fits(error) && message(error).matches("(?s).*\\berror 1(46|49)\\b.*");
        }
    },

    /** A row or a table stayed locked by another transaction for longer than a statement waits. */
    LOCK_TIMEOUT(
            Set.of(
                    "55P03", // lock not available (PostgreSQL lock_timeout)
                    "HYT00"), // lock timeout (H2)
            Set.of(
                    1205, // lock wait timeout; only the statement is rolled back (MySQL, MariaDB)
                    50200)), // lock timeout (H2)

    /** Another conflict with a transaction. */
    OBSTACLE(
            Set.of(),
            Set.of(
                    1020, // innodb_snapshot_isolation (MariaDB)
                    1047, // node not in the primary component, "unknown command" while it joins (Galera)
                    3100, // a hook of Group Replication failed before the commit (MySQL)
                    90131)), // concurrent update (H2)

    /** A row was locked, and the statement was told not to wait. The transaction can continue. */
    LOCK_REFUSED(Set.of(), Set.of(3572)), // NOWAIT (MySQL)

    /** A unique key already exists. */
    DUPLICATE_KEY(Set.of("23505"), Set.of(1062)),

    /** The server is a replica or in read-only mode, or the transaction is read-only. */
    READ_ONLY(
            Set.of("25006"), // read-only transaction (PostgreSQL, MySQL 1792)
            Set.of(
                    1290, // read_only, super_read_only; the error of other options, too (MySQL, MariaDB)
                    1836, // read-only mode (MySQL)
                    1874, // innodb_read_only (MySQL)
                    90097)) { // opened read-only (H2)
        @Override
        boolean fits(SQLException error) {
            return super.fits(error)
                    && (error.getErrorCode() != 1290 || message(error).matches("(?s).*(\\b|_)read[-_]only\\b.*"));
        }
    },

    /** The server ended the session, or serves none at the moment; the transaction is rolled back. */
    SESSION_ENDED(
            Set.of(
                    "57P01", // terminated by an administrator, shutdown (PostgreSQL)
                    "57P02", // crash of another session (PostgreSQL)
                    "57P03", // not accepting connections now (PostgreSQL)
                    "57P05", // idle_session_timeout (PostgreSQL)
                    "25P03", // idle_in_transaction_session_timeout (PostgreSQL)
                    "25P04", // transaction_timeout (PostgreSQL)
                    "25S03", // another host took over the connection (MariaDB's driver)
                    "70100"), // killed (MySQL 1317, MariaDB)
            Set.of(
                    4031, // wait_timeout (MySQL)
                    3781, // a new primary of Group Replication still applies what it has received (MySQL)
                    3782, // the same, and leaves the group (MySQL)
                    1927, // connection killed (MariaDB)
                    90067, // connection broken (H2)
                    90098, // database closed (H2)
                    90121)) { // the same, by a JVM that ended (H2)
        @Override
        boolean fits(SQLException error) {
            return super.fits(error)
                    && !TIMEOUT.codes().contains(error.getErrorCode()); // which has the same SQL state on MariaDB
        }
    },

    /** The statement exceeded a time limit of the server. */
    TIMEOUT(
            Set.of("57014"), // statement_timeout, cancelled (PostgreSQL, H2)
            Set.of(
                    3024, // max_execution_time (MySQL)
                    1969)), // max_statement_time (MariaDB)

    /** A table does not exist. */
    MISSING_TABLE(Set.of("42S02", "42P01", "42S04"), Set.of(1146)),

    /** The database or schema of a table does not exist. */
    MISSING_SCHEMA(
            Set.of(),
            Set.of(
                    1049, // (MySQL, MariaDB)
                    90079)), // (H2)

    /** A column does not exist. */
    MISSING_COLUMN(
            Set.of(
                    "42S22", // (MySQL 1054, MariaDB, H2)
                    "42703"), // (PostgreSQL)
            Set.of()),

    /** The user lacks a privilege. */
    DENIED(
            Set.of("42501"), // (PostgreSQL)
            Set.of(
                    1044, // to the database (MySQL, MariaDB)
                    1142, // to the table (MySQL, MariaDB)
                    1143, // to the column (MySQL, MariaDB)
                    90096)), // (H2)

    /** {@code binlog_format=STATEMENT} rejects writes at {@code READ COMMITTED}. */
    STATEMENT_BINLOG(Set.of(), Set.of(1665)),

    /** The server has run out of disk, memory or connections. */
    EXHAUSTED(
            Set.of(
                    "53000", // resources (PostgreSQL)
                    "53100", // disk full (PostgreSQL)
                    "53200", // memory (PostgreSQL)
                    "53300"), // connections (PostgreSQL)
            Set.of(
                    1021, // disk full (MySQL, MariaDB)
                    1037, // memory (MySQL, MariaDB)
                    1040, // connections (MySQL, MariaDB)
                    1041, // memory (MySQL, MariaDB)
                    1114, // table full (MySQL, MariaDB)
                    1203, // connections of the user (MySQL, MariaDB)
                    1226)); // a limit of the user (MySQL, MariaDB)

    private final Set<String> states;
    private final Set<Integer> codes;

    SqlErrorKind(Set<String> states, Set<Integer> codes) {
        this.states = states;
        this.codes = codes;
    }

    boolean fits(SQLException error) {
        return states.contains(state(error)) || codes.contains(error.getErrorCode());
    }

    public Set<String> states() {
        return states;
    }

    public Set<Integer> codes() {
        return codes;
    }

    /** Returns the message of an error; empty if it has none. */
    static String message(SQLException error) {
        @Nullable String message = error.getMessage();
        return message == null ? "" : message;
    }

    /** Returns the SQL state of an error; empty if it has none. */
    static String state(SQLException error) {
        @Nullable String state = error.getSQLState();
        return state == null ? "" : state;
    }
}
