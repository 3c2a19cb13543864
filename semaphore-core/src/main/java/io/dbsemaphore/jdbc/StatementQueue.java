package io.dbsemaphore.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;

/**
 * Statements of a transaction that are queued for the next round trip: until the queue is {@linkplain #flush flushed},
 * another statement of the transaction is prepared, or the transaction commits. They are executed in order; if the
 * driver supports it, all in one round trip, together with the commit. Execution ends at the first statement that
 * fails. A connection of {@link SemaphoreDataSource} unwraps to this type. Used by one thread at a time, like the
 * connection.
 */
public interface StatementQueue {

    <T> Result<T> query(String sql, Collection<?> values, Reader<T> reader);

    /** Queues a write; its result is the number of rows that it changed. */
    Result<Integer> update(String sql, Collection<?> values);

    /** Executes the queued statements. */
    void flush() throws SQLException;

    /** Whether all queued statements take one round trip, instead of one each. */
    boolean isOneRoundTrip();

    /**
     * The result of a queued statement.
     *
     * @param <T> its type
     */
    @FunctionalInterface
    interface Result<T> {

        /**
         * Returns the result.
         *
         * @throws IllegalStateException if the statement has not been executed yet
         */
        T get();
    }

    /**
     * Reads the rows of a query.
     *
     * @param <T> the type of the result
     */
    @FunctionalInterface
    interface Reader<T> {

        /** Reads the rows, which are closed afterwards. */
        T read(ResultSet rows) throws SQLException;
    }
}
