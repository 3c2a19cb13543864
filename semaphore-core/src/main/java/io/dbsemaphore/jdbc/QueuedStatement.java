package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.PreparedStatementCallback;
import org.springframework.jdbc.core.ResultSetExtractor;

/** A statement that is queued for the next round trip. */
final class QueuedStatement<T> implements Supplier<T> {

    private final String sql;
    private final Collection<?> values;
    private final boolean update;
    private final PreparedStatementCallback<T> outcome;
    private @Nullable T result;

    private QueuedStatement(String sql, Collection<?> values, boolean update, PreparedStatementCallback<T> outcome) {
        this.sql = sql;
        this.values = values;
        this.update = update;
        this.outcome = outcome;
    }

    static QueuedStatement<Integer> update(String sql, Collection<?> values) {
        return new QueuedStatement<>(sql, values, true, PreparedStatement::getUpdateCount);
    }

    static <T> QueuedStatement<T> query(String sql, Collection<?> values, ResultSetExtractor<T> reader) {
        return new QueuedStatement<>(sql, values, false, executed -> {
            try (ResultSet rows = executed.getResultSet()) {
                return reader.extractData(rows);
            }
        });
    }

    String sql() {
        return sql;
    }

    boolean isUpdate() {
        return update;
    }

    /** Executes the statement on its own. */
    void execute(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            bind(statement, 1);
            if (update) {
                statement.executeUpdate();
            } else {
                statement.execute();
            }
            takeResult(statement);
        }
    }

    /** Sets the parameters, starting at the given index, and returns the index after the last one. */
    int bind(PreparedStatement statement, int first) throws SQLException {
        int index = first;
        for (@Nullable Object value : values) {
            statement.setObject(index++, value);
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
