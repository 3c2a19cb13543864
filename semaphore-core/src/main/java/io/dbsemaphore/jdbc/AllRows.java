package io.dbsemaphore.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** Lifts the limit of rows that a pool or a driver ({@code maxRows} of Connector/J) sets for each statement: the rest is cut silently. */
final class AllRows {

    private AllRows() {}

    /** The statement, whose results are not limited. */
    static <S extends Statement> S of(S statement) throws SQLException {
        statement.setMaxRows(0);
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
