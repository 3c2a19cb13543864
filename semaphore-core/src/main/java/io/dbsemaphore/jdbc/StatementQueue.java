package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.jdbc.core.ResultSetExtractor;

/**
 * Statements of a transaction that are queued for the next round trip: until the queue is {@linkplain #flush flushed},
 * another statement of the transaction is prepared, or the transaction commits. They are executed in order: one by one,
 * or if the driver supports it, all in one round trip, together with the commit. Execution ends at the first statement
 * that fails. A result that is asked for before its statement was executed is an {@link IllegalStateException}. A
 * connection of {@link SemaphoreDataSource} unwraps to this type. Used by one thread at a time, like the connection.
 */
public class StatementQueue {

    private final Connection connection;
    private List<QueuedStatement<?>> queued = new ArrayList<>();

    StatementQueue(Connection connection) {
        this.connection = connection;
    }

    public final <T> Supplier<T> query(String sql, Collection<?> values, ResultSetExtractor<T> reader) {
        QueuedStatement<T> query = QueuedStatement.query(sql, values, reader);
        queued.add(query);
        return query;
    }

    /** Queues a write; its result is the number of rows that it changed. */
    public final Supplier<Integer> update(String sql, Collection<?> values) {
        QueuedStatement<Integer> update = QueuedStatement.update(sql, values);
        queued.add(update);
        return update;
    }

    /** Executes the queued statements. */
    public void flush() throws SQLException {
        executeOneByOne(take());
    }

    void commit() throws SQLException {
        for (QueuedStatement<?> statement : take()) {
            statement.execute(connection);
        }
        connection.commit();
    }

    /** Whether all queued statements take one round trip, instead of one each. */
    public boolean isOneRoundTrip() {
        return false;
    }

    /** Discards the queued statements, because the transaction is rolled back. */
    final void discard() {
        queued.clear();
    }

    /** Restores the previous settings of the session. */
    void restore() throws SQLException {}

    final Connection connection() {
        return connection;
    }

    final List<QueuedStatement<?>> take() {
        List<QueuedStatement<?>> statements = queued;
        queued = new ArrayList<>();
        return statements;
    }

    final void executeOneByOne(List<QueuedStatement<?>> statements) throws SQLException {
        for (QueuedStatement<?> statement : statements) {
            statement.execute(connection);
        }
    }
}
