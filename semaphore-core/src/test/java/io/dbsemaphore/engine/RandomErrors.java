package io.dbsemaphore.engine;

import io.dbsemaphore.spi.SemaphoreListener;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Throws errors now and then from all that an engine is given: its data source and its listeners. */
final class RandomErrors {

    private static final double OF_CONNECTIONS = 0.004;
    private static final double OF_LISTENERS = 0.05;

    private final Random random;
    private final AtomicInteger thrown = new AtomicInteger();
    private volatile boolean on;

    RandomErrors(long seed) {
        random = new Random(seed);
    }

    void on() {
        on = true;
    }

    void off() {
        on = false;
    }

    int thrown() {
        return thrown.get();
    }

    private void maybeThrow(double probability) {
        if (!on) {
            return;
        }
        int which;
        synchronized (random) {
            if (random.nextDouble() >= probability) {
                return;
            }
            which = random.nextInt(3);
        }
        thrown.incrementAndGet();
        switch (which) {
            case 0 -> throw new StackOverflowError("injected");
            case 1 -> throw new OutOfMemoryError("injected");
            default -> throw new NoClassDefFoundError("injected");
        }
    }

    DataSource around(DataSource target) {
        return new DelegatingDataSource(target) {
            @Override
            public Connection getConnection() throws SQLException {
                maybeThrow(OF_CONNECTIONS);
                return wrap(Connection.class, super.getConnection());
            }
        };
    }

    private <T> T wrap(Class<T> type, T target) {
        InvocationHandler handler = (proxy, method, arguments) -> {
            boolean cleansUp = List.of("close", "abort", "isClosed").contains(method.getName());
            if (!cleansUp) {
                maybeThrow(OF_CONNECTIONS);
            }
            Object result = invoke(target, method, arguments);
            maybeThrow(OF_CONNECTIONS);
            if (result instanceof PreparedStatement statement) {
                return wrap(PreparedStatement.class, statement);
            }
            return result instanceof Statement statement ? wrap(Statement.class, statement) : result;
        };
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException failure) {
            throw failure.getTargetException();
        }
    }

    SemaphoreListener listener() {
        return new SemaphoreListener() {
            @Override
            public void acquired(Acquired event) {
                maybeThrow(OF_LISTENERS);
            }

            @Override
            public void refused(Refused event) {
                maybeThrow(OF_LISTENERS);
            }

            @Override
            public void released(Released event) {
                maybeThrow(OF_LISTENERS);
            }

            @Override
            public void lost(Lost event) {
                maybeThrow(OF_LISTENERS);
            }

            @Override
            public void retried(Retried event) {
                maybeThrow(OF_LISTENERS);
            }

            @Override
            public void decided(Decided event) {
                maybeThrow(OF_LISTENERS);
            }
        };
    }
}
