package io.dbsemaphore.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * The view of a prepared session that one borrower has until it closes the connection. Answers questions about
 * isolation and auto-commit without a round trip.
 */
final class SessionConnection implements InvocationHandler {

    private final PreparedSession session;
    private final Returns returns;
    private boolean closed;

    /** Receives the session when the connection is closed. */
    @FunctionalInterface
    interface Returns {

        void returned(PreparedSession session) throws SQLException;
    }

    private SessionConnection(PreparedSession session, Returns returns) {
        this.session = session;
        this.returns = returns;
    }

    static Connection on(PreparedSession session, Returns returns) {
        return (Connection) Proxy.newProxyInstance(
                SessionConnection.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                new SessionConnection(session, returns));
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] args) throws Throwable {
        switch (method.getName()) {
            case "close" -> {
                close();
                return null;
            }
            case "isClosed" -> {
                return closed || session.target().isClosed();
            }
            case "equals" -> {
                return args != null && proxy == args[0];
            }
            case "hashCode" -> {
                return System.identityHashCode(proxy);
            }
            case "commit" -> {
                requireOpen();
                session.limitWait();
                session.committing();
                try {
                    session.statements().commit();
                } catch (SQLException failure) {
                    session.failed(failure);
                    throw failure;
                }
                session.committed();
                return null;
            }
            default -> {
                requireOpen();
                return invokeOpen(method, args);
            }
        }
    }

    private void requireOpen() throws SQLException {
        if (closed) {
            throw new SQLException("This connection of the semaphores is closed", "08003");
        }
    }

    private @Nullable Object invokeOpen(Method method, @Nullable Object @Nullable [] args) throws Throwable {
        switch (method.getName()) {
            case "getTransactionIsolation" -> {
                return Connection.TRANSACTION_READ_COMMITTED;
            }
            case "getAutoCommit", "isReadOnly" -> {
                return false;
            }
            case "setTransactionIsolation" -> {
                requireFixed(args, Connection.TRANSACTION_READ_COMMITTED, "READ COMMITTED");
                return null;
            }
            case "setAutoCommit" -> {
                requireFixed(args, false, "auto-commit off");
                return null;
            }
            case "rollback" -> {
                session.rollback();
                return null;
            }
            case "unwrap" -> {
                Object own = own(args);
                return own != null ? own : invokeTarget(method, args);
            }
            case "isWrapperFor" -> {
                return own(args) != null ? true : invokeTarget(method, args);
            }
            case "createStatement", "prepareStatement", "prepareCall" -> {
                session.limitWait();
                session.statements().flushBeforeAnother();
                return invokeTarget(method, args);
            }
            default -> {
                return invokeTarget(method, args);
            }
        }
    }

    /** The library's own objects that it unwraps from its connections; null for types of the driver. */
    private @Nullable Object own(@Nullable Object @Nullable [] args) {
        Object type = args == null ? null : args[0];
        if (type == StatementQueue.class) {
            return session.statements();
        }
        return type == PreparedSession.class ? session : null;
    }

    private @Nullable Object invokeTarget(Method method, @Nullable Object @Nullable [] args) throws Throwable {
        try {
            return method.invoke(session.target(), args);
        } catch (InvocationTargetException thrown) {
            throw thrown.getTargetException();
        }
    }

    private void close() throws SQLException {
        if (!closed) {
            closed = true;
            returns.returned(session);
        }
    }

    private static void requireFixed(@Nullable Object @Nullable [] args, Object fixed, String description)
            throws SQLException {
        if (args == null || !fixed.equals(args[0])) {
            throw new SQLException("Transactions of the semaphores support " + description + " only");
        }
    }
}
