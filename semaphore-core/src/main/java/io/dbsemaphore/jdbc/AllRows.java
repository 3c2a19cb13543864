package io.dbsemaphore.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Lifts the limits that a pool or a driver sets for each statement: that of rows ({@code maxRows} of Connector/J), since the rest is cut
 * silently, and that of time ({@code defaultQueryTimeout} of DBCP), which would end a lock wait that has a limit of its own.
 */
final class AllRows {

    private AllRows() {}

    /** The statement, whose results are not limited. */
    static <S extends Statement> S of(S statement) throws SQLException {
        statement.setMaxRows(0);
        // on H2 it is a setting of the session, which the host would not get back
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

    /** The connection with statements whose results are not limited. */
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
