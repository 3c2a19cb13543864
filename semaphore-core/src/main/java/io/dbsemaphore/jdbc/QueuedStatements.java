package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** The queued statements of one session, sent one by one, which every driver supports. Used by one thread at a time. */
class QueuedStatements implements StatementQueue {

    private final Connection connection;
    private List<QueuedStatement<?>> queued = new ArrayList<>();

    QueuedStatements(Connection connection) {
        this.connection = connection;
    }

    @Override
    public final <T> Result<T> query(String sql, Collection<?> values, Reader<T> reader) {
        QueuedStatement<T> query = QueuedStatement.query(sql, values, reader);
        queued.add(query);
        return query;
    }

    @Override
    public final Result<Integer> update(String sql, Collection<?> values) {
        QueuedStatement<Integer> update = QueuedStatement.update(sql, values);
        queued.add(update);
        return update;
    }

    @Override
    public void flush() throws SQLException {
        executeOneByOne(take());
    }

    void commit() throws SQLException {
        executeOneByOne(take());
        connection.commit();
    }

    @Override
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
