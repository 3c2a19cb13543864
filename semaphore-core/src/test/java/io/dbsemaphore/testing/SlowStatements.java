package io.dbsemaphore.testing;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Sessions of a server that is not next door: each statement is executed so much later. */
public final class SlowStatements extends DelegatingDataSource {

    private final Duration delay;

    public SlowStatements(DataSource target, Duration delay) {
        super(target);
        this.delay = delay;
    }

    @Override
    public Connection getConnection() throws SQLException {
        return proxy(Connection.class, super.getConnection());
    }

    private <T> T proxy(Class<T> type, T target) {
        return type.cast(Proxy.newProxyInstance(
                SlowStatements.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    if (target instanceof Statement && method.getName().startsWith("execute")) {
                        Thread.sleep(delay.toMillis());
                    }
                    try {
                        Object result = method.invoke(target, arguments);
                        return result instanceof Statement
                                ? proxy(asInterface(method.getReturnType()), result)
                                : result;
                    } catch (InvocationTargetException failure) {
                        throw failure.getTargetException();
                    }
                }));
    }

    @SuppressWarnings("unchecked")
    private static Class<Object> asInterface(Class<?> type) {
        return (Class<Object>) type;
    }
}
