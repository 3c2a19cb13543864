package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.springframework.util.ClassUtils;

/** How the queued statements of a transaction get to the database. What fails leaves the transaction to be rolled back. */
interface Pipeline {

    /** Each by itself: what every driver can do. */
    Pipeline ONE_BY_ONE = new Pipeline() {};

    /** The best that the driver of this connection can do, until it is {@linkplain #restore restored}. */
    static Pipeline of(Connection connection) {
        return ClassUtils.isPresent("com.mysql.cj.NativeSession", Pipeline.class.getClassLoader())
                ? MultiStatements.open(connection).orElse(ONE_BY_ONE)
                : ONE_BY_ONE;
    }

    /** Executes them in their order. */
    default void execute(Connection connection, List<QueuedStatement<?>> statements) throws SQLException {
        for (QueuedStatement<?> statement : statements) {
            statement.execute(connection);
        }
    }

    /** Executes them in their order and commits. */
    default void commit(Connection connection, List<QueuedStatement<?>> statements) throws SQLException {
        execute(connection, statements);
        connection.commit();
    }

    /** Gives the session back what it was before. */
    default void restore() throws SQLException {}
}
