package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;

/**
 * PostgreSQL: settings of a transaction, which end with it. Settings of a session would leak to other clients of a
 * proxy that assigns server connections by transaction (PgBouncer).
 */
record TransactionLocalLimits(Duration lockWait, Duration idle) implements SessionLimits {

    @Override
    public void applyToTransaction(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(
                "select set_config('lock_timeout', ?, true), set_config('idle_in_transaction_session_timeout', ?, true)")) {
            statement.setString(1, lockWait.toMillis() + "ms");
            statement.setString(2, idle.toMillis() + "ms");
            statement.execute();
        }
    }
}
