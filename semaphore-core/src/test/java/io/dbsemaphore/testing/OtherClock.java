package io.dbsemaphore.testing;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.function.LongSupplier;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Sessions of MySQL and MariaDB as of a server with another clock, which the library cannot set right. It stands still while a connection
 * is borrowed.
 */
public final class OtherClock extends DelegatingDataSource {

    private final LongSupplier epochSecond;

    /** Gives this clock to the sessions of a pool. */
    public OtherClock(DataSource target, LongSupplier epochSecond) {
        super(target);
        this.epochSecond = epochSecond;
    }

    @Override
    public Connection getConnection() throws SQLException {
        Connection connection = super.getConnection();
        String time = "timestamp = " + epochSecond.getAsLong();
        try (Statement statement = connection.createStatement()) {
            statement.execute("set " + time);
        }
        return proxy(Connection.class, connection, time);
    }

    private static <T> T proxy(Class<T> type, T target, String time) {
        return type.cast(Proxy.newProxyInstance(
                OtherClock.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    if (target instanceof Statement && arguments != null && arguments[0] instanceof String sql) {
                        arguments[0] = sql.replaceAll("timestamp = (0|DEFAULT)", time);
                    }
                    try {
                        Object result = method.invoke(target, arguments);
                        return method.getName().equals("createStatement")
                                ? proxy(Statement.class, (Statement) result, time)
                                : result;
                    } catch (InvocationTargetException failure) {
                        throw failure.getTargetException();
                    }
                }));
    }
}
