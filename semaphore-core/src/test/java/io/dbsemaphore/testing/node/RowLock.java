package io.dbsemaphore.testing.node;

import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.TestDatabase.Schema;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** A row lock of another transaction, which is rolled back on close. */
public final class RowLock implements AutoCloseable {

    private static final String REQUESTS = "select id from permit_request where external_id = ?";

    private final Connection connection;

    private RowLock(Connection connection) {
        this.connection = connection;
    }

    /** Begins a transaction that locks nothing yet. */
    public static RowLock begin(Schema schema) throws SQLException {
        return begin(schema, Connection.TRANSACTION_READ_COMMITTED);
    }

    /** Begins a transaction that locks nothing yet, and on MySQL and MariaDB will lock the gaps between the rows that it reads, too. */
    public static RowLock atRepeatableRead(Schema schema) throws SQLException {
        return begin(schema, Connection.TRANSACTION_REPEATABLE_READ);
    }

    private static RowLock begin(Schema schema, int isolation) throws SQLException {
        Connection connection = DriverManager.getConnection(schema.jdbcUrl(), schema.username(), schema.password());
        connection.setTransactionIsolation(isolation);
        connection.setAutoCommit(false);
        return new RowLock(connection);
    }

    /** Locks the row of a semaphore. */
    public static RowLock ofSemaphore(Schema schema, String name) throws SQLException {
        return begin(schema).lockSemaphore(name);
    }

    /** Locks the row of a request. */
    public static RowLock ofRequest(Schema schema, String externalId) throws SQLException {
        return begin(schema).execute(REQUESTS + " for update", externalId);
    }

    /** Locks the rows of the permits of a request. */
    public static RowLock ofPermits(Schema schema, String externalId) throws SQLException {
        return begin(schema).lockPermits(schema, externalId, "for update");
    }

    /** Locks the same rows as {@code requireHeld} does: against changes, not against other such locks. */
    public static RowLock sharedOfPermits(Schema schema, String externalId) throws SQLException {
        String lock = schema.kind() == DatabaseKind.MARIADB ? "lock in share mode" : "for share";
        return begin(schema).lockPermits(schema, externalId, lock);
    }

    /** Locks the rows of all instances. */
    public static RowLock ofInstances(Schema schema) throws SQLException {
        return begin(schema).execute("select id from semaphore_instance where id > ? for update", 0L);
    }

    private RowLock lockPermits(Schema schema, String externalId, String lock) throws SQLException {
        for (Long id : schema.jdbc()
                .queryForList(
                        "select id from permit where permit_request_id = (" + REQUESTS + ")", Long.class, externalId)) {
            execute("select id from permit where id = ? " + lock, id);
        }
        return this;
    }

    public RowLock lockSemaphore(String name) throws SQLException {
        return execute("select id from semaphore where name = ? for update", name);
    }

    public RowLock execute(String sql, Object... arguments) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < arguments.length; i++) {
                statement.setObject(i + 1, arguments[i]);
            }
            statement.execute();
        }
        return this;
    }

    /** Ends the locks. */
    public void rollBack() throws SQLException {
        connection.rollback();
    }

    /** Commits what the transaction has written, and ends its locks. */
    public void commit() throws SQLException {
        connection.commit();
    }

    @Override
    public void close() throws SQLException {
        try (connection) {
            connection.rollback();
        }
    }
}
