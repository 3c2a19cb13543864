package io.dbsemaphore.samples.benchmark.cost;

import io.dbsemaphore.samples.benchmark.database.Vendor;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/** A transaction that reads as of when it began, for as long as it is open. */
final class Snapshot implements AutoCloseable {

    private final Connection connection;

    Snapshot(DataSource dataSource) throws SQLException {
        connection = dataSource.getConnection();
        connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute(Vendor.of(connection).snapshot());
        }
    }

    @Override
    public void close() throws SQLException {
        connection.rollback();
        connection.close();
    }
}
