package io.dbsemaphore.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;

/**
 * Statements of a transaction that wait for the next round trip: until it is {@linkplain #flush flushed}, another
 * statement of the transaction is prepared, or it commits. They are executed in their order, and where the driver can,
 * all of them by one round trip, with the commit in it. The first that fails is the last that is executed. A connection
 * of {@link SemaphoreDataSource} unwraps to this; like the connection it is used by one thread at a time.
 */
public interface StatementQueue {

    /** Queues a query. */
    <T> Result<T> query(String sql, Collection<?> values, Reader<T> reader);

    /** Queues a write; its result is how many rows it has changed. */
    Result<Integer> update(String sql, Collection<?> values);

    /** Executes what is queued. */
    void flush() throws SQLException;

    /** Whether it takes one round trip for all that is queued, and not one for each statement. */
    boolean isOneRoundTrip();

    /**
     * What a queued statement returns.
     *
     * @param <T> its type
     */
    @FunctionalInterface
    interface Result<T> {

        /**
         * The result.
         *
         * @throws IllegalStateException when the statement is not executed yet
         */
        T get();
    }

    /**
     * Reads what a query returns.
     *
     * @param <T> what is made of it
     */
    @FunctionalInterface
    interface Reader<T> {

        /** Reads all that is needed; the rows are closed afterwards. */
        T read(ResultSet rows) throws SQLException;
    }
}
