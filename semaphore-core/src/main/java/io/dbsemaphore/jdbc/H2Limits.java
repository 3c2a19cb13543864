package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

/** H2: a lock timeout for each session. H2 has no limit for idle sessions. */
record H2Limits(Duration lockWait, Duration idle) implements SessionLimits {

    @Override
    public Restoration applyToSession(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            long before;
            try (ResultSet timeout = statement.executeQuery("select lock_timeout()")) {
                timeout.next();
                before = timeout.getLong(1);
            }
            statement.execute("set lock_timeout " + lockWait.toMillis());
            return restored -> {
                try (Statement restore = restored.createStatement()) {
                    restore.execute("set lock_timeout " + before);
                }
            };
        }
    }
}
