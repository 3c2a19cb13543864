package io.dbsemaphore.samples.benchmark.contestant;

import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/** A transaction as a {@code DataSourceTransactionManager} makes it: autocommit is switched off, and on again. */
final class PlainTransaction {

    private final DataSource dataSource;

    PlainTransaction(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    <T> T execute(Work<T> work) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            try {
                T result = work.on(connection);
                connection.commit();
                return result;
            } catch (SQLException | RuntimeException failure) {
                connection.rollback();
                throw failure;
            } finally {
                connection.setAutoCommit(true);
            }
        }
    }

    @FunctionalInterface
    interface Work<T> {

        T on(Connection connection) throws SQLException;
    }
}
