package io.dbsemaphore.testing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A text of several statements, separated by {@value #SEPARATOR}, that is executed statement by statement, so that a gate
 * can stop before and after each. Its results are looked at one after the other, as of the text in one piece.
 */
final class SplitExecution implements AutoCloseable {

    /** What is between the statements of a text, and in none of them. */
    static final String SEPARATOR = "; ";

    private final List<@Nullable PreparedStatement> executed = new ArrayList<>();
    private int current;

    /** Executes one statement of the text. */
    @FunctionalInterface
    interface Step {

        void run(String sql, Call execution) throws Exception;
    }

    /** What is executed. */
    @FunctionalInterface
    interface Call {

        void run() throws SQLException;
    }

    static List<String> parts(String text) {
        return List.of(text.split(SEPARATOR));
    }

    /** Executes the parts up to the first that fails; what is called {@code commit} is a commit of the connection. */
    static SplitExecution of(Connection connection, String text, int maxRows, Map<Integer, Object> values, Step step)
            throws Exception {
        SplitExecution split = new SplitExecution();
        int parameter = 1;
        for (String sql : parts(text)) {
            if (sql.equals("commit")) {
                step.run(sql, connection::commit);
                split.executed.add(null);
                continue;
            }
            PreparedStatement statement = connection.prepareStatement(sql);
            split.executed.add(statement);
            statement.setMaxRows(maxRows);
            int parameters = statement.getParameterMetaData().getParameterCount();
            for (int i = 1; i <= parameters; i++) {
                statement.setObject(i, values.get(parameter++));
            }
            step.run(sql, statement::execute);
        }
        return split;
    }

    static Map<Integer, Object> noValues() {
        return new TreeMap<>();
    }

    /** Moves to the next result. */
    boolean next() throws SQLException {
        current++;
        return resultSet() != null;
    }

    @Nullable ResultSet resultSet() throws SQLException {
        PreparedStatement statement = current < executed.size() ? executed.get(current) : null;
        return statement == null ? null : statement.getResultSet();
    }

    int updateCount() throws SQLException {
        if (current >= executed.size()) {
            return -1;
        }
        PreparedStatement statement = executed.get(current);
        return statement == null ? 0 : statement.getUpdateCount();
    }

    @Override
    public void close() throws SQLException {
        for (PreparedStatement statement : executed) {
            if (statement != null) {
                statement.close();
            }
        }
    }
}
