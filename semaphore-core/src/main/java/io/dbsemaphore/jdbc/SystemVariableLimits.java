package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** MySQL and MariaDB: session variables, which are read, set, and restored. */
final class SystemVariableLimits implements SessionLimits {

    private static final String LOCK_WAIT_VARIABLE = "innodb_lock_wait_timeout";
    /** For metadata locks, which DDL, {@code LOCK TABLES} and backups take: a year by default. */
    private static final String TABLE_LOCK_WAIT_VARIABLE = "lock_wait_timeout";

    private final Duration lockWait;
    private final Duration idle;
    private final Map<String, Long> variables;
    private final @Nullable String offWhereKnown;
    /** The variables by server version: the servers of a cluster may differ during an upgrade. */
    private final Map<String, Map<String, Long>> variablesByVersion = new ConcurrentHashMap<>();

    private SystemVariableLimits(
            Duration lockWait, Duration idle, String idleVariable, @Nullable String offWhereKnown) {
        this.lockWait = lockWait;
        this.idle = idle;
        this.variables = new LinkedHashMap<>();
        variables.put(LOCK_WAIT_VARIABLE, SessionLimits.seconds(lockWait));
        variables.put(TABLE_LOCK_WAIT_VARIABLE, SessionLimits.seconds(lockWait));
        variables.put(idleVariable, SessionLimits.seconds(idle));
        this.offWhereKnown = offWhereKnown;
    }

    static SystemVariableLimits mysql(Duration lockWait, Duration idle) {
        return new SystemVariableLimits(lockWait, idle, "wait_timeout", null);
    }

    /**
     * Turns off snapshot isolation, the default since MariaDB 11.6: with it an {@code UPDATE … IN} would wait for rows
     * that it does not change, or fail with error 1020.
     */
    static SystemVariableLimits mariadb(Duration lockWait, Duration idle) {
        return new SystemVariableLimits(lockWait, idle, "idle_transaction_timeout", "innodb_snapshot_isolation");
    }

    @Override
    public Duration lockWait() {
        return lockWait;
    }

    @Override
    public Duration idle() {
        return idle;
    }

    @Override
    public Restoration applyToSession(Connection connection) throws SQLException {
        Map<String, Long> own = variables(connection);
        try (Statement statement = connection.createStatement()) {
            Map<String, Long> before = read(statement, own.keySet());
            statement.execute(set(own));
            return restored -> {
                try (Statement restore = restored.createStatement()) {
                    restore.execute(set(before));
                }
            };
        }
    }

    private Map<String, Long> variables(Connection connection) throws SQLException {
        if (offWhereKnown == null) {
            return variables;
        }
        String version = connection.getMetaData().getDatabaseProductVersion();
        Map<String, Long> known = variablesByVersion.get(version);
        if (known == null) {
            known = new LinkedHashMap<>(variables);
            if (isKnown(connection, offWhereKnown)) {
                known.put(offWhereKnown, 0L);
            }
            variablesByVersion.put(version, known);
        }
        return known;
    }

    private static boolean isKnown(Connection connection, String variable) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("show session variables like '" + variable + "'")) {
            return rows.next();
        }
    }

    private static Map<String, Long> read(Statement statement, Set<String> variables) throws SQLException {
        String select = variables.stream()
                .map(variable -> "@@session." + variable)
                .collect(Collectors.joining(", ", "select ", ""));
        try (ResultSet row = statement.executeQuery(select)) {
            row.next();
            Map<String, Long> values = new LinkedHashMap<>();
            int column = 1;
            for (String variable : variables) {
                values.put(variable, row.getLong(column++));
            }
            return values;
        }
    }

    private static String set(Map<String, Long> values) {
        return values.entrySet().stream()
                .map(value -> "session %s = %d".formatted(value.getKey(), value.getValue()))
                .collect(Collectors.joining(", ", "set ", ""));
    }
}
