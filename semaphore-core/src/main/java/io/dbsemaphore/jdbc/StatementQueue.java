package io.dbsemaphore.jdbc;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLSyntaxErrorException;
import java.sql.SQLTransactionRollbackException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.PreparedStatementCallback;
import org.springframework.jdbc.core.ResultSetExtractor;

/**
 * Statements of a transaction that are queued for the next round trip, until the queue is {@linkplain #flush flushed},
 * another statement of the transaction is prepared, or the transaction commits. They are executed in order, up to the first
 * that fails. Reading a result before its statement was executed throws an {@link IllegalStateException}. Each {@link Session} has one
 * queue. Used by one thread at a time, like the connection.
 *
 * <p>Where {@link Pipelining} is on, the statements are sent as one text, {@code a; b; commit}, in one round trip:
 *
 * <ul>
 *   <li>MySQL executes the text up to the first statement that fails, so no commit follows a failure.
 *   <li>PostgreSQL's driver sends a Parse, a Bind and an Execute for each statement, and one Sync. After an error the server
 *       skips everything up to the Sync. With {@code preferQueryMode=simple} there is no Sync: the server rejects the following statements
 *       of the transaction, whose commit becomes a rollback.
 * </ul>
 *
 * Each statement has its own snapshot: a sum after a lock sees what others committed during the wait for the lock.
 * Without pipelining, the statements and the commit take one round trip each.
 *
 * <p>On MySQL the last texts stay prepared until the session is restored, because the driver parses a text whenever it is prepared.
 * PostgreSQL's driver has a cache, which the host may have turned off for a proxy.
 */
public final class StatementQueue {

    /** Enough for the statements of a lone caller, and of batches of the usual sizes. */
    private static final int MAX_PREPARED = 16;

    private final Connection connection;
    private final Pipelining pipelining;
    private final @Nullable Runnable pipelined;
    /** The statements by their text, the one last sent at the end. */
    private final Map<String, PreparedStatement> prepared = new LinkedHashMap<>();

    private List<Queued<?>> queued = new ArrayList<>();

    /** Whether the transaction can do the same by other statements: a rejection of these then does not switch pipelining off. */
    private boolean mayBeRejected;

    /** The number of queued statements that only prepare the transaction, and are not sent without others. */
    private int opening;

    StatementQueue(Connection connection, Pipelining pipelining) {
        this.connection = connection;
        this.pipelining = pipelining;
        this.pipelined = pipelining.enable(connection);
    }

    public <T> Supplier<T> query(String sql, Collection<?> values, ResultSetExtractor<T> reader) {
        return add(new Queued<>(sql, values, false, executed -> {
            try (ResultSet rows = executed.getResultSet()) {
                return reader.extractData(rows);
            }
        }));
    }

    /** Queues a write; its result is the number of rows that it changed. */
    public Supplier<Integer> update(String sql, Collection<?> values) {
        return add(new Queued<>(sql, values, true, PreparedStatement::getUpdateCount));
    }

    /** Queues the first statement of a transaction: it is sent with the next one, or not at all if there is none. */
    void open(String sql, Collection<?> values) {
        add(new Queued<>(sql, values, false, executed -> true));
        opening = queued.size();
    }

    private <T> Supplier<T> add(Queued<T> statement) {
        queued.add(statement);
        return statement;
    }

    /** Lets the transaction fail if the next statements are rejected. Otherwise these and all later ones would be sent one by one. */
    public void expectRejection() {
        mayBeRejected = true;
    }

    /** Executes the queued statements. */
    public void flush() throws SQLException {
        List<Queued<?>> statements = queued.size() > opening ? take() : List.of();
        if (statements.size() < 2 || !sendTogether(statements, false)) {
            sendOneByOne(statements);
        }
    }

    /** Executes the queued statements, before a statement that is not queued. */
    void flushBeforeAnother() throws SQLException {
        opening = 0;
        flush();
    }

    /** Executes the queued statements, and commits. */
    void commit() throws SQLException {
        try {
            sendAndCommit();
        } finally {
            mayBeRejected = false;
        }
    }

    private void sendAndCommit() throws SQLException {
        if (queued.size() == opening) {
            queued.clear();
        }
        List<Queued<?>> statements = take();
        if (statements.isEmpty() || !sendTogether(statements, true)) {
            sendOneByOne(statements);
            connection.commit();
        }
    }

    /** Returns how long a round trip takes; 0 while that is unknown. */
    public long nanosOfRoundTrip() {
        return pipelining.roundTrip();
    }

    /** Whether all queued statements take one round trip, instead of one each. */
    public boolean isOneRoundTrip() {
        return pipelined != null && pipelining.isOn();
    }

    /** Restores the previous mode of the session. */
    void restore() throws SQLException {
        closePrepared(0);
        if (pipelined != null) {
            pipelined.run();
        }
    }

    private List<Queued<?>> take() {
        List<Queued<?>> statements = queued;
        queued = new ArrayList<>();
        opening = 0;
        return statements;
    }

    private void sendOneByOne(List<Queued<?>> statements) throws SQLException {
        for (Queued<?> statement : statements) {
            try (PreparedStatement prepared = AllRows.of(connection.prepareStatement(statement.sql));
                    BoundArrays arrays = new BoundArrays()) {
                statement.bind(prepared, 1, arrays);
                if (statement.update) {
                    prepared.executeUpdate();
                } else {
                    prepared.execute();
                }
                statement.takeResult(prepared);
            }
        }
    }

    /**
     * Executes the statements in one round trip. Returns false if nothing was sent: pipelining is off, or a filter has rejected the text.
     */
    private boolean sendTogether(List<Queued<?>> statements, boolean commits) throws SQLException {
        if (!isOneRoundTrip()) {
            return false;
        }
        List<String> texts = new ArrayList<>(statements.size() + 1);
        boolean onlyUpdates = true;
        for (Queued<?> statement : statements) {
            texts.add(statement.sql);
            onlyUpdates &= statement.update;
        }
        if (commits) {
            texts.add("commit");
        }
        PreparedStatement together;
        try {
            together = prepare(pipelining.together(texts));
        } catch (SQLException refusal) {
            if (SqlErrors.isConnectionLost(refusal)) {
                throw refusal;
            }
            // preparing a statement sends nothing, so a filter of the pool has refused the text
            if (mayBeRejected) {
                SQLSyntaxErrorException rejected = new SQLSyntaxErrorException(
                        "A filter has rejected the statements: " + refusal.getMessage(), "42000");
                rejected.addSuppressed(refusal);
                throw rejected;
            }
            pipelining.switchOff(refusal);
            return false;
        }
        try (BoundArrays arrays = new BoundArrays()) {
            // with a fetch size, rows may be locked only when they are fetched, after the following statements
            together.setFetchSize(0);
            int index = 1;
            for (Queued<?> statement : statements) {
                index = statement.bind(together, index, arrays);
            }
            if (onlyUpdates) {
                together.executeUpdate(); // Connector/J's execute() would first ask the server whether it is read-only
            } else {
                together.execute();
            }
            for (Queued<?> statement : statements) {
                takeResult(statement, together, commits);
                together.getMoreResults();
            }
            return true;
        } catch (SQLException failure) {
            if (mayBeRejected || !pipelining.isRefusedByServer(failure)) {
                throw failure;
            }
            pipelining.switchOff(failure);
            SQLTransactionRollbackException again = new SQLTransactionRollbackException(
                    "A multi-statement request was rejected; the next attempt sends the statements one by one",
                    "40001");
            again.addSuppressed(failure);
            throw again;
        }
    }

    private static void takeResult(Queued<?> statement, PreparedStatement executed, boolean commits)
            throws SQLException {
        try {
            statement.takeResult(executed);
        } catch (SQLException unreadable) {
            if (!commits) {
                throw unreadable;
            }
            SQLException notOfServer = new SQLException("A result cannot be read, perhaps after the commit");
            notOfServer.addSuppressed(unreadable);
            throw notOfServer;
        }
    }

    private PreparedStatement prepare(String text) throws SQLException {
        PreparedStatement statement = prepared.remove(text);
        closePrepared(pipelining.keepsPrepared() ? MAX_PREPARED - 1 : 0);
        if (statement == null) {
            statement = AllRows.of(connection.prepareStatement(text));
        }
        prepared.put(text, statement);
        return statement;
    }

    /** Closes the oldest prepared statements until this many are left. */
    private void closePrepared(int kept) throws SQLException {
        Iterator<PreparedStatement> oldestFirst = prepared.values().iterator();
        while (prepared.size() > kept) {
            PreparedStatement oldest = oldestFirst.next();
            oldestFirst.remove();
            oldest.close();
        }
    }

    /** The arrays of statements, to be freed after the execution: a driver may have buffers for them (pgjdbc-ng). */
    private final class BoundArrays implements AutoCloseable {

        private final List<Array> arrays = new ArrayList<>();

        Array add(SqlArray array) throws SQLException {
            Array created = array.create(connection);
            arrays.add(created);
            return created;
        }

        @Override
        public void close() throws SQLException {
            for (Array array : arrays) {
                array.free();
            }
        }
    }

    private static final class Queued<T> implements Supplier<T> {

        private final String sql;
        private final Collection<?> values;
        private final boolean update;
        private final PreparedStatementCallback<T> outcome;
        private @Nullable T result;

        Queued(String sql, Collection<?> values, boolean update, PreparedStatementCallback<T> outcome) {
            this.sql = sql;
            this.values = values;
            this.update = update;
            this.outcome = outcome;
        }

        /** Sets the parameters, starting at the given index, and returns the index after the last one. */
        int bind(PreparedStatement statement, int first, BoundArrays arrays) throws SQLException {
            int index = first;
            for (@Nullable Object value : values) {
                statement.setObject(index++, value instanceof SqlArray array ? arrays.add(array) : value);
            }
            return index;
        }

        /** Reads the result, which must be the current result of the executed statement. */
        void takeResult(PreparedStatement executed) throws SQLException {
            result = outcome.doInPreparedStatement(executed);
        }

        @Override
        public T get() {
            if (result == null) {
                throw new IllegalStateException("Not executed yet: " + sql);
            }
            return result;
        }
    }
}
