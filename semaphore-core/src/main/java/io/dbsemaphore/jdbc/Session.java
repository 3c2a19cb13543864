package io.dbsemaphore.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection of the host's pool, prepared for short locking transactions: {@code READ COMMITTED}, auto-commit off,
 * limited lock waits. It is lent as a {@link Connection}, for one transaction after the other. Its previous settings are
 * restored before it is returned to the pool; if that fails, it is evicted. Used by one thread at a time.
 */
final class Session {

    private static final Logger log = LoggerFactory.getLogger(Session.class);

    private final Connection target;
    private final boolean autoCommitBefore;
    private final int isolationBefore;
    private final int networkTimeoutBefore;
    private final SessionLimits limits;
    private final SessionLimits.Restoration limitsBefore;
    private final StatementQueue statements;
    private final long openedAt;
    private boolean transactionOpen;
    private boolean failed;
    private boolean readOnly;

    private Session(Connection target, SessionLimits limits, Pipelining pipelining) throws SQLException {
        this.target = target;
        this.limits = limits;
        autoCommitBefore = target.getAutoCommit();
        isolationBefore = target.getTransactionIsolation();
        networkTimeoutBefore = target.getNetworkTimeout();
        target.setNetworkTimeout(Runnable::run, limits.longestAnswerMillis());
        if (isolationBefore != Connection.TRANSACTION_READ_COMMITTED) {
            target.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        }
        if (autoCommitBefore) {
            target.setAutoCommit(false);
        }
        limitsBefore = limits.applyToSession(target);
        statements = new StatementQueue(target, pipelining);
        openedAt = System.nanoTime();
    }

    /** Prepares a connection; evicts it if that fails. */
    static Session open(Connection target, SessionLimits limits, Pipelining pipelining) throws SQLException {
        try {
            return new Session(target, limits, pipelining);
        } catch (SQLException | RuntimeException | Error failure) {
            evict(target);
            throw failure;
        }
    }

    /** Begins a transaction, and returns the connection that is in it until it is closed. */
    Connection begin(Returns returns) {
        transactionOpen = true;
        limits.applyToTransaction(statements);
        return (Connection) Proxy.newProxyInstance(
                Session.class.getClassLoader(), new Class<?>[] {Connection.class}, new Loan(returns));
    }

    /** Asks the server whether it rejects writes. */
    boolean isReadOnly(String query) throws SQLException {
        try (Statement statement = target.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            return row.next() && row.getBoolean(1);
        }
    }

    /** Whether the session was found to be read-only, and so must be evicted. */
    boolean isReadOnly() {
        return readOnly;
    }

    /** Reports that a transaction of this session has failed. */
    void failed(Throwable failure) {
        failed = true;
        readOnly |= SqlErrors.isReadOnly(failure);
    }

    /** Rolls back. A failure must not hide the original exception; closing the connection ends the transaction then. */
    void rollback() {
        failed = true; // whatever the reason: the next transaction uses another connection
        statements.discard();
        try {
            target.rollback();
            transactionOpen = false;
        } catch (SQLException | RuntimeException | Error failure) {
            log.debug("A transaction could not be rolled back; its connection will be evicted", failure);
        }
    }

    /** Whether the next transaction can use the session as it is. */
    boolean isReusable() {
        return !failed && !transactionOpen;
    }

    long ageNanos() {
        return System.nanoTime() - openedAt;
    }

    /** Restores the connection and returns it to the host's pool; evicts it if it is read-only. */
    void returnToPool() throws SQLException {
        if (readOnly) {
            evict();
            return;
        }
        try {
            if (transactionOpen) {
                target.rollback();
            }
            limitsBefore.restore(target);
            statements.restore();
            if (autoCommitBefore) {
                target.setAutoCommit(true);
            }
            if (isolationBefore != Connection.TRANSACTION_READ_COMMITTED) {
                target.setTransactionIsolation(isolationBefore);
            }
            target.setNetworkTimeout(Runnable::run, networkTimeoutBefore);
        } catch (SQLException | RuntimeException | Error failure) {
            log.debug("The settings of a connection could not be restored; it is evicted", failure);
            evict(target);
            return;
        }
        target.close();
    }

    void evict() {
        evict(target);
    }

    /**
     * Evicts a connection: aborts it, then executes a statement through the pool's wrapper, so that the pool notices
     * that the connection is dead.
     */
    static void evict(Connection connection) {
        try (connection) {
            connection.abort(Runnable::run);
            try (Statement probe = connection.createStatement()) {
                probe.execute("select 1");
            }
        } catch (SQLException | RuntimeException | Error dead) {
            log.trace("The evicted connection is closed, as intended", dead);
        }
    }

    /** Receives the session when the connection is closed. */
    @FunctionalInterface
    interface Returns {

        void returned(Session session) throws SQLException;
    }

    /** The view of the session that one borrower has. Answers questions about isolation and auto-commit without a round trip. */
    private final class Loan implements InvocationHandler {

        private static final Set<String> AFTER_CLOSE = Set.of("close", "isClosed", "equals", "hashCode");

        private final Returns returns;
        private boolean closed;

        Loan(Returns returns) {
            this.returns = returns;
        }

        @Override
        public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] args)
                throws Throwable {
            if (closed && !AFTER_CLOSE.contains(method.getName())) {
                throw new SQLException("This connection of the semaphores is closed", "08003");
            }
            return switch (method.getName()) {
                case "close" -> {
                    if (!closed) {
                        closed = true;
                        returns.returned(Session.this);
                    }
                    yield null;
                }
                case "isClosed" -> closed || target.isClosed();
                case "equals" -> args != null && proxy == args[0];
                case "hashCode" -> System.identityHashCode(proxy);
                case "commit" -> {
                    failed = true; // until the commit is answered, the next transaction must not begin here
                    try {
                        statements.commit();
                    } catch (SQLException failure) {
                        failed(failure);
                        throw failure;
                    }
                    failed = false;
                    transactionOpen = false;
                    yield null;
                }
                case "rollback" -> {
                    rollback();
                    yield null;
                }
                case "createStatement", "prepareStatement", "prepareCall" -> {
                    statements.flushBeforeAnother();
                    yield invokeTarget(method, args);
                }
                case "getTransactionIsolation" -> Connection.TRANSACTION_READ_COMMITTED;
                case "getAutoCommit", "isReadOnly" -> false;
                case "setTransactionIsolation" ->
                    requireFixed(args, Connection.TRANSACTION_READ_COMMITTED, "READ COMMITTED");
                case "setAutoCommit" -> requireFixed(args, false, "auto-commit off");
                case "unwrap" -> own(args) != null ? own(args) : invokeTarget(method, args);
                case "isWrapperFor" -> own(args) != null ? true : invokeTarget(method, args);
                default -> invokeTarget(method, args);
            };
        }

        /** The library's own objects that it unwraps from its connections; null for types of the driver. */
        private @Nullable Object own(@Nullable Object @Nullable [] args) {
            Object type = args == null ? null : args[0];
            if (type == StatementQueue.class) {
                return statements;
            }
            return type == Session.class ? Session.this : null;
        }

        private @Nullable Object invokeTarget(Method method, @Nullable Object @Nullable [] args) throws Throwable {
            try {
                return method.invoke(target, args);
            } catch (InvocationTargetException thrown) {
                throw thrown.getTargetException();
            }
        }

        private static @Nullable Object requireFixed(
                @Nullable Object @Nullable [] args, Object fixed, String description) throws SQLException {
            if (args == null || !fixed.equals(args[0])) {
                throw new SQLException("Transactions of the semaphores support " + description + " only");
            }
            return null;
        }
    }
}
