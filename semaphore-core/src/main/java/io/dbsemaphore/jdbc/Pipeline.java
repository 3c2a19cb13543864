package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** How the queued statements of a transaction get to the database. What fails leaves the transaction to be rolled back. */
interface Pipeline {

    /** Each by itself: what every driver can do. */
    Pipeline ONE_BY_ONE = new Pipeline() {};

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

    /** Whether it takes one round trip for all of them, and not one for each. */
    default boolean isOneRoundTrip() {
        return false;
    }

    /** Gives the session back what it was before. */
    default void restore() throws SQLException {}
}
