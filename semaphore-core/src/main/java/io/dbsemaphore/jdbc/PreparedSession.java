package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection of the host's pool, prepared for short locking transactions: {@code READ COMMITTED}, auto-commit off,
 * limited lock waits. Its previous settings are restored before it is returned to the pool; if that fails, it is
 * evicted. Used by one thread at a time.
 */
final class PreparedSession {

    private static final Logger log = LoggerFactory.getLogger(PreparedSession.class);

    private final Connection target;
    private final boolean autoCommitBefore;
    private final int isolationBefore;
    private final int networkTimeoutBefore;
    private final SessionLimits limits;
    private final SessionLimits.Restoration limitsBefore;
    private final StatementQueue statements;
    private final long openedAt;
    private int networkTimeout;
    private boolean transactionOpen;
    private boolean failed;
    private boolean readOnly;

    private PreparedSession(Connection target, SessionLimits limits, Pipelining pipelining) throws SQLException {
        this.target = target;
        this.limits = limits;
        autoCommitBefore = target.getAutoCommit();
        isolationBefore = target.getTransactionIsolation();
        networkTimeoutBefore = target.getNetworkTimeout();
        networkTimeout = longestAnswer(limits);
        target.setNetworkTimeout(Runnable::run, networkTimeout);
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
    static PreparedSession open(Connection target, SessionLimits limits, Pipelining pipelining) throws SQLException {
        try {
            return new PreparedSession(target, limits, pipelining);
        } catch (SQLException | RuntimeException | Error failure) {
            evict(target);
            throw failure;
        }
    }

    /** No statement of the library takes longer than its lock wait: an unresponsive server is not awaited for longer. */
    private static int longestAnswer(SessionLimits limits) {
        return Math.toIntExact(limits.lockWait().plus(limits.idle()).toMillis());
    }

    Connection target() {
        return target;
    }

    void begin() throws SQLException {
        limitWait();
        transactionOpen = true;
        limits.applyToTransaction(statements);
    }

    /** Limits how long the next answer of the server is awaited. Takes no round trip. */
    void limitWait() throws SQLException {
        int longest = longestAnswer(limits);
        if (longest != networkTimeout) {
            target.setNetworkTimeout(Runnable::run, longest);
            networkTimeout = longest;
        }
    }

    /** The statements that are queued for the next round trip of its transaction. */
    StatementQueue statements() {
        return statements;
    }

    /** Asks the server whether it rejects writes. */
    boolean isReadOnly(String query) throws SQLException {
        try (Statement statement = target.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            return row.next() && row.getBoolean(1);
        }
    }

    /** Reports that a transaction of this session has failed. */
    void failed(Throwable failure) {
        failed = true;
        readOnly |= SqlErrors.isReadOnly(failure);
    }

    /** Whether the session was found to be read-only, and so must be evicted. */
    boolean isReadOnly() {
        return readOnly;
    }

    /** A commit is about to be sent: until it is answered, the next transaction must not begin here. */
    void committing() {
        failed = true;
    }

    /** The commit was answered. */
    void committed() {
        failed = false;
        transactionOpen = false;
    }

    /** Rolls back. A failure must not hide the original exception; closing the connection ends the transaction then. */
    void rollback() {
        failed = true; // whatever the reason: the next transaction uses another connection
        statements.discard();
        try {
            limitWait();
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
            limitWait();
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
}
