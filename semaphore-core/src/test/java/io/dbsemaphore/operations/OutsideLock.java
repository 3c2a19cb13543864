package io.dbsemaphore.operations;

import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.TestDatabase.Schema;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** A transaction of another application, which holds row locks until it is closed. */
final class OutsideLock implements AutoCloseable {

    private static final String REQUESTS = "select id from permit_request where external_id = ?";

    private final Connection connection;
    private final Schema schema;

    private OutsideLock(Schema schema) throws SQLException {
        this.schema = schema;
        connection = DriverManager.getConnection(schema.jdbcUrl(), schema.username(), schema.password());
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        connection.setAutoCommit(false);
    }

    /** Locks the row of the request. */
    static OutsideLock ofRequest(Schema schema, String externalId) throws SQLException {
        return new OutsideLock(schema).execute(REQUESTS + " for update", externalId);
    }

    /** Locks the rows of the permits of the request. */
    static OutsideLock ofPermits(Schema schema, String externalId) throws SQLException {
        return new OutsideLock(schema).lockPermits(externalId, "for update");
    }

    /** Locks the same rows as {@code requireHeld} does: against changes, not against other such locks. */
    static OutsideLock sharedOfPermits(Schema schema, String externalId) throws SQLException {
        return new OutsideLock(schema)
                .lockPermits(externalId, schema.kind() == DatabaseKind.MARIADB ? "lock in share mode" : "for share");
    }

    /** Locks the row of the semaphore. */
    static OutsideLock ofSemaphore(Schema schema, String name) throws SQLException {
        return new OutsideLock(schema).execute("select id from semaphore where name = ? for update", name);
    }

    /** Locks the rows of all instances. */
    static OutsideLock ofInstances(Schema schema) throws SQLException {
        return new OutsideLock(schema).execute("select id from semaphore_instance where id > ? for update", 0L);
    }

    private OutsideLock lockPermits(String externalId, String lock) throws SQLException {
        for (Long id : schema.jdbc()
                .queryForList(
                        "select id from permit where permit_request_id = (" + REQUESTS + ")", Long.class, externalId)) {
            execute("select id from permit where id = ? " + lock, id);
        }
        return this;
    }

    private OutsideLock execute(String sql, Object argument) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setObject(1, argument);
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
