package io.dbsemaphore.jdbc;

import com.mysql.cj.jdbc.JdbcConnection;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Limits how long a transaction may wait for a lock, and how long it may be idle between statements before the server ends its
 * session. Also resets settings that a former borrower has left, and that would change the clock or the rows that a statement reads.
 *
 * <ul>
 *   <li>MySQL, MariaDB: variables of the session, which are read, set if they differ, and restored.
 *   <li>H2: the same, for the lock timeout only; it has no limit for idle sessions.
 *   <li>PostgreSQL: settings of each transaction, which end with it. Settings of a session would leak to other clients of a
 *       proxy that assigns server connections by transaction (PgBouncer). {@code row_security} is off, so that a query fails if a policy
 *       would hide rows from it.
 * </ul>
 */
final class SessionLimits {

    /**
     * Turned off on servers that have it. It is on by default since MariaDB 11.6, and would make an {@code UPDATE … IN} wait for rows that
     * it does not change, or fail with error 1020.
     */
    private static final String SNAPSHOT_ISOLATION = "innodb_snapshot_isolation";

    private static final String READ_COMMITTED = "READ-COMMITTED";
    private static final String UTF8 = "utf8mb4";

    private static final String TIMESTAMP = "timestamp";

    /** Can make the end of a transaction begin another one with the same isolation level. */
    private static final String COMPLETION_TYPE = "completion_type";

    /** The difference between the clock of a session and that of the server; about 0 unless the session's clock stands still. */
    private static final String DIFFERENCE = "timestampdiff(second, now(6), sysdate(6)), ";

    private static final Pattern UNQUOTED = Pattern.compile("[0-9.]+|DEFAULT");

    private final Database database;
    private final Duration lockWait;
    private final Duration idle;
    private final Map<String, @Nullable String> variables = new LinkedHashMap<>();
    /** The variables by server version: the servers of a cluster may differ during an upgrade. */
    private final Map<String, Map<String, @Nullable String>> variablesByVersion = new ConcurrentHashMap<>();

    SessionLimits(Database database, Duration lockWait, Duration idle) {
        this.database = database;
        this.lockWait = lockWait;
        this.idle = idle;
        switch (database) {
            case MYSQL, MARIADB -> {
                variables.put("innodb_lock_wait_timeout", seconds(lockWait));
                // for metadata locks (DDL, LOCK TABLES, backups): a year by default
                variables.put("lock_wait_timeout", seconds(lockWait));
                variables.put(database == Database.MYSQL ? "wait_timeout" : "idle_transaction_timeout", seconds(idle));
                variables.put("sql_select_limit", "18446744073709551615");
                // if the clock stands still; on MySQL in any case, because sysdate() may be now() and hide that
                variables.put(TIMESTAMP, database == Database.MYSQL ? "DEFAULT" : "0");
                variables.put(COMPLETION_TYPE, "NO_CHAIN");
                // with useLocalSessionState, the driver does not notice a SET statement
                variables.put("autocommit", "0");
                variables.put("character_set_client", UTF8);
                variables.put("character_set_results", UTF8);
                variables.put("collation_connection", UTF8 + "_bin");
                if (database == Database.MYSQL) {
                    variables.put("transaction_isolation", READ_COMMITTED);
                    variables.put("max_execution_time", "0");
                } else {
                    variables.put("max_statement_time", "0.000000"); // the form in which it is read
                }
            }
            case H2 -> variables.put("lock_timeout", String.valueOf(lockWait.toMillis()));
            case POSTGRESQL -> {}
        }
    }

    /** Returns how long to wait for an answer of the server: no statement of the library takes longer than its lock wait. */
    int longestAnswerMillis() {
        return Math.toIntExact(lockWait.plus(idle).toMillis());
    }

    /**
     * Whether a former borrower of a session with auto-commit may have left a transaction open, for example by {@code START TRANSACTION}. A
     * rollback then ends it. Connector/J is asked, because it always sends a rollback; the other drivers send one only if the server has
     * reported a transaction.
     */
    boolean mayBeInTransaction(Connection connection) {
        return switch (database) {
            case MYSQL -> {
                try {
                    yield ConnectorJ.mayBeInTransaction(connection);
                } catch (SQLException | RuntimeException | LinkageError unknown) {
                    yield true; // a LinkageError if another driver is used
                }
            }
            case MARIADB, POSTGRESQL -> true;
            case H2 -> false; // its BEGIN turns auto-commit off
        };
    }

    /** Sets the variables of a session with auto-commit off, and returns the previous values of those that have changed. */
    Map<String, @Nullable String> applyToSession(Connection connection) throws SQLException {
        Map<String, @Nullable String> changes = new LinkedHashMap<>(variables(connection));
        Map<String, @Nullable String> before = changes.isEmpty() ? changes : read(connection, changes.keySet());
        before.entrySet().removeIf(variable -> Objects.equals(changes.get(variable.getKey()), variable.getValue()));
        changes.keySet().retainAll(before.keySet());
        set(connection, changes);
        if (changes.containsKey(COMPLETION_TYPE)) {
            connection.rollback(); // ends the transaction that the last one began, with the host's isolation level
        }
        return before;
    }

    /** Sets variables of a session. */
    void set(Connection connection, Map<String, @Nullable String> values) throws SQLException {
        if (!values.isEmpty()) {
            String assignment = database == Database.H2 ? "%s %s" : "session %s = %s";
            try (Statement statement = AllRows.of(connection.createStatement())) {
                statement.execute(values.entrySet().stream()
                        .map(value -> assignment.formatted(value.getKey(), literal(value.getValue())))
                        .collect(Collectors.joining(", ", "set ", "")));
            }
        }
    }

    private static String literal(@Nullable String value) {
        return value == null || UNQUOTED.matcher(value).matches()
                ? String.valueOf(value)
                : "'" + value.replace("'", "''") + "'";
    }

    /** Whether each transaction has its own settings, and sessions are left as they are. */
    boolean areOfTransactions() {
        return database == Database.POSTGRESQL;
    }

    /** Queues the statement that sets the limits of a transaction, unless they are set for the session. */
    void applyToTransaction(StatementQueue statements) {
        if (areOfTransactions()) {
            statements.open(
                    "select set_config('lock_timeout', ?, true), set_config('idle_in_transaction_session_timeout', ?, true),"
                            + " set_config('statement_timeout', ?, true), set_config('row_security', 'off', true)",
                    List.of(lockWait.toMillis() + "ms", idle.toMillis() + "ms", longestAnswerMillis() + "ms"));
        }
    }

    private Map<String, @Nullable String> variables(Connection connection) throws SQLException {
        if (database != Database.MARIADB) {
            return variables;
        }
        String version = connection.getMetaData().getDatabaseProductVersion();
        Map<String, @Nullable String> known = variablesByVersion.get(version);
        if (known == null) {
            known = new LinkedHashMap<>(variables);
            known.put("system_versioning_asof", "DEFAULT");
            known.put(
                    has(connection, "transaction_isolation") ? "transaction_isolation" : "tx_isolation",
                    READ_COMMITTED);
            if (has(connection, SNAPSHOT_ISOLATION)) {
                known.put(SNAPSHOT_ISOLATION, "0");
            }
            variablesByVersion.put(version, known);
        }
        return known;
    }

    private static boolean has(Connection connection, String variable) throws SQLException {
        try (Statement statement = AllRows.of(connection.createStatement());
                ResultSet rows = statement.executeQuery("show session variables like '" + variable + "'")) {
            return rows.next();
        }
    }

    private Map<String, @Nullable String> read(Connection connection, Set<String> names) throws SQLException {
        boolean h2 = database == Database.H2;
        String select = names.stream()
                .map(name -> h2 ? name + "()" : "@@session." + name)
                .collect(Collectors.joining(
                        ", ",
                        "select " + (h2 ? "0, " : DIFFERENCE),
                        h2 ? "" : " limit 1")); // sql_select_limit may be 0
        try (Statement statement = AllRows.of(connection.createStatement());
                ResultSet row = statement.executeQuery(select)) {
            row.next();
            Map<String, @Nullable String> values = new LinkedHashMap<>();
            for (String name : names) {
                values.put(name, row.getString(values.size() + 2));
            }
            boolean runs = row.getLong(1) == 0; // if the clock runs, the value is the time; 0 lets it run again
            values.computeIfPresent(
                    TIMESTAMP, (name, time) -> runs ? "0" : new BigDecimal(time).toPlainString()); // from 1.0E9
            return values;
        }
    }

    /** Rounds up to whole seconds, the unit of MySQL and MariaDB; at least one. */
    private static String seconds(Duration duration) {
        return String.valueOf(Math.max(1, duration.plusMillis(999).toSeconds()));
    }

    private static final class ConnectorJ {

        private ConnectorJ() {}

        /** Whether the last answer of the server reported a transaction. */
        static boolean mayBeInTransaction(Connection connection) throws SQLException {
            return !connection.isWrapperFor(JdbcConnection.class)
                    || connection
                            .unwrap(JdbcConnection.class)
                            .getSession()
                            .getServerSession()
                            .inTransactionOnServer();
        }
    }
}
