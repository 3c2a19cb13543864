package io.dbsemaphore.persistence;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** A data source that records each text that is prepared on its connections, and whether Hibernate prepared it. */
final class SentStatements extends DelegatingDataSource {

    private final List<Sent> sent = Collections.synchronizedList(new ArrayList<>());

    SentStatements(DataSource target) {
        super(target);
    }

    /**
     * A text that was sent in one piece.
     *
     * @param byHibernate whether it is a query of a repository, rather than a statement that was queued
     */
    record Sent(String sql, boolean byHibernate) {

        List<String> statements() {
            return List.of(sql.split("; "));
        }
    }

    List<Sent> sent() {
        synchronized (sent) {
            return List.copyOf(sent);
        }
    }

    void clear() {
        sent.clear();
    }

    @Override
    public Connection getConnection() throws SQLException {
        Connection target = obtainTargetDataSource().getConnection();
        return (Connection) Proxy.newProxyInstance(
                SentStatements.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) -> invoke(target, method, arguments));
    }

    private @Nullable Object invoke(Connection target, Method method, Object @Nullable [] arguments) throws Throwable {
        if (method.getName().equals("prepareStatement") && arguments != null) {
            boolean byHibernate = Arrays.stream(new Throwable().getStackTrace())
                    .anyMatch(frame -> frame.getClassName().startsWith("org.hibernate.sql.exec."));
            sent.add(new Sent((String) arguments[0], byHibernate));
        }
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException thrown) {
            throw thrown.getTargetException();
        }
    }
}
