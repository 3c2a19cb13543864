package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * Limits how long a transaction may wait for a lock, and how long it may be idle between statements, after which the server
 * ends its session.
 *
 * <ul>
 *   <li>MySQL, MariaDB: variables of the session, in seconds, which are read, set, and restored.
 *   <li>H2: the same, for the lock timeout only; it has no limit for idle sessions.
 *   <li>PostgreSQL: settings of each transaction, which end with it. Settings of a session would leak to other clients of a
 *       proxy that assigns server connections by transaction (PgBouncer).
 * </ul>
 */
final class SessionLimits {

    /**
     * Turned off where it is known: it is the default since MariaDB 11.6, and with it an {@code UPDATE … IN} would wait for rows
     * that it does not change, or fail with error 1020.
     */
    private static final String SNAPSHOT_ISOLATION = "innodb_snapshot_isolation";

    private final Database database;
    private final Duration lockWait;
    private final Duration idle;
    private final Map<String, Long> variables = new LinkedHashMap<>();
    /** The variables by server version: the servers of a cluster may differ during an upgrade. */
    private final Map<String, Map<String, Long>> variablesByVersion = new ConcurrentHashMap<>();

    SessionLimits(Database database, Duration lockWait, Duration idle) {
        this.database = database;
        this.lockWait = lockWait;
        this.idle = idle;
        switch (database) {
            case MYSQL, MARIADB -> {
                variables.put("innodb_lock_wait_timeout", seconds(lockWait));
                // for metadata locks, which DDL, LOCK TABLES and backups take: a year by default
                variables.put("lock_wait_timeout", seconds(lockWait));
                variables.put(database == Database.MYSQL ? "wait_timeout" : "idle_transaction_timeout", seconds(idle));
            }
            case H2 -> variables.put("lock_timeout", lockWait.toMillis());
            case POSTGRESQL -> {}
        }
    }

    /** No statement of the library takes longer than its lock wait: an unresponsive server is not awaited for longer. */
    int longestAnswerMillis() {
        return Math.toIntExact(lockWait.plus(idle).toMillis());
    }

    /** Sets the limits that apply to a whole session, which has auto-commit off, and returns the previous ones. */
    Map<String, Long> applyToSession(Connection connection) throws SQLException {
        Map<String, Long> limits = variables(connection);
        Map<String, Long> before = limits.isEmpty() ? limits : read(connection, limits.keySet());
        set(connection, limits);
        return before;
    }

    /** Sets variables of a session. */
    void set(Connection connection, Map<String, Long> values) throws SQLException {
        if (!values.isEmpty()) {
            // not %d, which has the digits of the default locale
            String assignment = database == Database.H2 ? "%s %s" : "session %s = %s";
            try (Statement statement = connection.createStatement()) {
                statement.execute(values.entrySet().stream()
                        .map(value -> assignment.formatted(value.getKey(), value.getValue()))
                        .collect(Collectors.joining(", ", "set ", "")));
            }
        }
    }

    /** Whether sessions are left as they are, and each transaction begins with its settings. */
    boolean areOfTransactions() {
        return database == Database.POSTGRESQL;
    }

    /** Queues the statement that sets the limits of a single transaction, before its first one. */
    void applyToTransaction(StatementQueue statements) {
        if (areOfTransactions()) {
            statements.open(
                    "select set_config('lock_timeout', ?, true), set_config('idle_in_transaction_session_timeout', ?, true)",
                    List.of(lockWait.toMillis() + "ms", idle.toMillis() + "ms"));
        }
    }

    private Map<String, Long> variables(Connection connection) throws SQLException {
        if (database != Database.MARIADB) {
            return variables;
        }
        String version = connection.getMetaData().getDatabaseProductVersion();
        Map<String, Long> known = variablesByVersion.get(version);
        if (known == null) {
            known = new LinkedHashMap<>(variables);
            if (hasSnapshotIsolation(connection)) {
                known.put(SNAPSHOT_ISOLATION, 0L);
            }
            variablesByVersion.put(version, known);
        }
        return known;
    }

    private static boolean hasSnapshotIsolation(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("show session variables like '" + SNAPSHOT_ISOLATION + "'")) {
            return rows.next();
        }
    }

    private Map<String, Long> read(Connection connection, Set<String> names) throws SQLException {
        String select = names.stream()
                .map(name -> database == Database.H2 ? name + "()" : "@@session." + name)
                .collect(Collectors.joining(", ", "select ", ""));
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(select)) {
            row.next();
            Map<String, Long> values = new LinkedHashMap<>();
            for (String name : names) {
                values.put(name, row.getLong(values.size() + 1));
            }
            return values;
        }
    }

    /** Rounds up to whole seconds, at least one, which is the unit of MySQL and MariaDB. */
    private static long seconds(Duration duration) {
        return Math.max(1, duration.plusMillis(999).toSeconds());
    }
}
