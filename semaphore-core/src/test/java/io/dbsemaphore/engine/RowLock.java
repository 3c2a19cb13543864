package io.dbsemaphore.engine;

import io.dbsemaphore.testing.TestDatabase.Schema;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** A row lock of another transaction, which is rolled back on close. */
final class RowLock implements AutoCloseable {

    private final Connection connection;

    private RowLock(Connection connection) {
        this.connection = connection;
    }

    /** Begins a transaction that locks nothing yet. */
    static RowLock begin(Schema schema) throws SQLException {
        Connection connection = DriverManager.getConnection(schema.jdbcUrl(), schema.username(), schema.password());
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        connection.setAutoCommit(false);
        return new RowLock(connection);
    }

    /** Locks the row of a semaphore. */
    static RowLock ofSemaphore(Schema schema, String name) throws SQLException {
        return begin(schema).lockSemaphore(name);
    }

    RowLock lockSemaphore(String name) throws SQLException {
        return execute("select id from semaphore where name = ? for update", name);
    }

    RowLock execute(String sql, Object... arguments) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < arguments.length; i++) {
                statement.setObject(i + 1, arguments[i]);
            }
            statement.execute();
        }
        return this;
    }

    @Override
    public void close() throws SQLException {
        try (connection) {
            connection.rollback();
        }
    }
}
