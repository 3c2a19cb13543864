package io.dbsemaphore.engine;

import io.dbsemaphore.testing.TestDatabase.Schema;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * The worst network: it tells the client at once that its connection is broken, and the server nothing. The transaction
 * lives on there with its locks, and its commit is under way until the test lets it arrive or not. No test sees a driver in
 * it that would send its commits along with statements.
 */
final class LateCommits extends DelegatingDataSource {

    private final AtomicBoolean armed = new AtomicBoolean();
    private final BlockingQueue<Connection> underWay = new LinkedBlockingQueue<>();

    LateCommits(Schema schema) {
        super(new DriverManagerDataSource(schema.jdbcUrl(), schema.username(), schema.password()));
    }

    /** The next commit is under way for as long as the test wants. */
    void delayNextCommit() {
        armed.set(true);
    }

    /** The delayed commit reaches the server. */
    void arrive() throws SQLException {
        try (Connection connection = delayed()) {
            connection.commit();
        }
    }

    /** The delayed commit does not reach the server, which rolls back. */
    void getLost() throws SQLException {
        try (Connection connection = delayed()) {
            connection.rollback();
        }
    }

    @Override
    public Connection getConnection() throws SQLException {
        Connection connection = super.getConnection();
        return (Connection) Proxy.newProxyInstance(
                LateCommits.class.getClassLoader(), new Class<?>[] {Connection.class}, new Link(connection));
    }

    private Connection delayed() throws SQLException {
        try {
            Connection connection = underWay.poll(10, TimeUnit.SECONDS);
            if (connection == null) {
                throw new AssertionError("No commit was delayed within " + Duration.ofSeconds(10));
            }
            return connection;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("Interrupted while waiting for a commit", e);
        }
    }

    private final class Link implements InvocationHandler {

        private final Connection target;
        private boolean broken;

        private Link(Connection target) {
            this.target = target;
        }

        @Override
        public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
            if (method.getName().equals("commit") && armed.compareAndSet(true, false)) {
                broken = true;
                underWay.add(target);
            }
            if (broken) {
                return onBrokenLink(method.getName());
            }
            if (method.getName().equals("isWrapperFor")) { // whose commits are under way by themselves
                return false;
            }
            try {
                return method.invoke(target, arguments);
            } catch (InvocationTargetException thrown) {
                throw thrown.getTargetException();
            }
        }

        private @Nullable Object onBrokenLink(String method) throws SQLException {
            return switch (method) {
                case "close", "abort" -> null;
                case "isClosed" -> true;
                default -> throw new SQLNonTransientConnectionException("Broken link", "08S01");
            };
        }
    }
}
