package io.dbsemaphore.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Lifts the limits that a pool or a driver sets for each statement: a limit of rows ({@code maxRows} of Connector/J) cuts results
 * silently, and a limit of time ({@code defaultQueryTimeout} of DBCP) would end a lock wait, which has a limit of its own.
 */
final class AllRows {

    private AllRows() {}

    /** Lifts the limits of a statement, and returns it. */
    static <S extends Statement> S of(S statement) throws SQLException {
        statement.setMaxRows(0);
        // H2 would set it for the session, which goes back to the host
        if (statement.getQueryTimeout() != 0
                && !statement
                        .getConnection()
                        .getMetaData()
                        .getDatabaseProductName()
                        .equals("H2")) {
            statement.setQueryTimeout(0);
        }
        return statement;
    }

    /** Wraps a connection, so that its statements have no limits. */
    static Connection of(Connection connection) {
        return (Connection) Proxy.newProxyInstance(
                AllRows.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    try {
                        Object result = method.invoke(connection, arguments);
                        return result instanceof Statement statement ? of(statement) : result;
                    } catch (InvocationTargetException failure) {
                        throw failure.getTargetException();
                    }
                });
    }
}
