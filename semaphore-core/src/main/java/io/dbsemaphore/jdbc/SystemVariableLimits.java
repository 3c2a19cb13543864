package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

/** MySQL and MariaDB: two session variables, read, set, and set back. */
record SystemVariableLimits(String idleVariable, Duration lockWait, Duration idle) implements SessionLimits {

    private static final String LOCK_WAIT_VARIABLE = "innodb_lock_wait_timeout";

    static SystemVariableLimits mysql(Duration lockWait, Duration idle) {
        return new SystemVariableLimits("wait_timeout", lockWait, idle);
    }

    static SystemVariableLimits mariadb(Duration lockWait, Duration idle) {
        return new SystemVariableLimits("idle_transaction_timeout", lockWait, idle);
    }

    @Override
    public Restoration applyToSession(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            long lockWaitBefore;
            long idleBefore;
            try (ResultSet variables =
                    statement.executeQuery("select @@session." + LOCK_WAIT_VARIABLE + ", @@session." + idleVariable)) {
                variables.next();
                lockWaitBefore = variables.getLong(1);
                idleBefore = variables.getLong(2);
            }
            statement.execute(set(SessionLimits.seconds(lockWait), SessionLimits.seconds(idle)));
            return restored -> {
                try (Statement restore = restored.createStatement()) {
                    restore.execute(set(lockWaitBefore, idleBefore));
                }
            };
        }
    }

    private String set(long lockWaitSeconds, long idleSeconds) {
        return "set session %s = %d, session %s = %d"
                .formatted(LOCK_WAIT_VARIABLE, lockWaitSeconds, idleVariable, idleSeconds);
    }
}
