package io.dbsemaphore.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * A prepared session as one borrower sees it, until the borrower closes it. It answers for isolation and auto-commit
 * itself, without a round trip.
 */
final class SessionConnection implements InvocationHandler {

    private final PreparedSession session;
    private final SessionPool pool;
    private boolean closed;

    private SessionConnection(PreparedSession session, SessionPool pool) {
        this.session = session;
        this.pool = pool;
    }

    static Connection on(PreparedSession session, SessionPool pool) {
        return (Connection) Proxy.newProxyInstance(
                SessionConnection.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                new SessionConnection(session, pool));
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
            default -> {
                if (closed) {
                    throw new SQLException("This connection of the semaphores was closed", "08003");
                }
                return invokeOpen(method, args);
            }
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
                requireOurs(args, Connection.TRANSACTION_READ_COMMITTED, "READ COMMITTED");
                return null;
            }
            case "setAutoCommit" -> {
                requireOurs(args, false, "auto-commit off");
                return null;
            }
            case "commit" -> {
                session.commit();
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
                return own(args) != null ? Boolean.TRUE : invokeTarget(method, args);
            }
            case "createStatement", "prepareStatement", "prepareCall" -> {
                session.statements().flush(); // what is queued comes before what comes after it
                return invokeTarget(method, args);
            }
            default -> {
                return invokeTarget(method, args);
            }
        }
    }

    /** What the library asks its own connections for; null for what is the driver's. */
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
            pool.takeBack(session);
        }
    }

    private static void requireOurs(@Nullable Object @Nullable [] args, Object ours, String description)
            throws SQLException {
        if (args == null || !ours.equals(args[0])) {
            throw new SQLException("Transactions of semaphores run with " + description + " only");
        }
    }
}
