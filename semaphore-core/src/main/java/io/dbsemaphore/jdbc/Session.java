package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection of the host's pool, prepared for short locking transactions: {@code READ COMMITTED}, auto-commit off,
 * limited lock waits. {@link Sessions#begin} lends it for one transaction at a time. Its previous settings are restored
 * before it is returned to the host's pool; if that fails, it is {@linkplain Eviction evicted}. Used by one thread at a time.
 */
public final class Session {

    private static final Logger log = LoggerFactory.getLogger(Session.class);

    private final Connection target;
    private final Eviction eviction;
    private final boolean autoCommitBefore;
    private final int isolationBefore;
    private final int networkTimeoutBefore;
    private final SessionLimits limits;
    private final Map<String, @Nullable String> limitsBefore;
    private final StatementQueue statements;
    private final long openedAt;
    private long idleSince;
    private boolean transactionOpen;
    private boolean readOnly;

    private Session(
            Connection target, Eviction eviction, SessionLimits limits, Pipelining pipelining, int preparationMillis)
            throws SQLException {
        this.target = target;
        this.eviction = eviction;
        this.limits = limits;
        networkTimeoutBefore = target.getNetworkTimeout();
        target.setNetworkTimeout(Runnable::run, preparationMillis); // first: the server may no longer answer
        autoCommitBefore = target.getAutoCommit();
        if (autoCommitBefore) {
            target.setAutoCommit(false);
        }
        // a pool may leave a transaction open, above all one that SQL began; sums would be read from its snapshot
        if (!autoCommitBefore || limits.mayBeInTransaction(target)) {
            target.rollback();
        }
        long askedAt = System.nanoTime();
        isolationBefore = target.getTransactionIsolation();
        pipelining.answeredIn(System.nanoTime() - askedAt);
        if (setsIsolation() && !limits.areOfTransactions()) {
            target.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        }
        limitsBefore = limits.applyToSession(target);
        target.setNetworkTimeout(Runnable::run, limits.longestAnswerMillis());
        statements = new StatementQueue(target, pipelining);
        openedAt = System.nanoTime();
    }

    /**
     * Prepares a connection; evicts it if that fails.
     *
     * @param preparationMillis how long each answer of the server is awaited during the preparation
     */
    static Session open(
            Connection target, Eviction eviction, SessionLimits limits, Pipelining pipelining, int preparationMillis)
            throws SQLException {
        try {
            return new Session(target, eviction, limits, pipelining, preparationMillis);
        } catch (SQLException | RuntimeException | Error failure) {
            eviction.evict(target);
            throw failure;
        }
    }

    /** Whether the pool has lent the connection with auto-commit off. */
    boolean isWithoutAutoCommit() {
        return !autoCommitBefore;
    }

    /** Begins a transaction. */
    void begin() {
        transactionOpen = true;
        if (setsIsolation() && limits.areOfTransactions()) {
            statements.open("set transaction isolation level read committed", List.of()); // before any query
        }
        limits.applyToTransaction(statements);
    }

    private boolean setsIsolation() {
        return isolationBefore != Connection.TRANSACTION_READ_COMMITTED;
    }

    /** Returns the queue of statements that share round trips. */
    public StatementQueue statements() {
        return statements;
    }

    /** Executes the queued statements, and returns the connection for others. The caller must not commit or close it. */
    public Connection connection() throws SQLException {
        statements.flushBeforeAnother();
        return AllRows.of(target);
    }

    /** Executes the queued statements, and commits. */
    public void commit() throws SQLException {
        statements.commit();
        transactionOpen = false; // if the commit fails, no transaction may follow in this session
    }

    /** Asks the server whether it rejects writes. If there is no answer, the session is evicted. */
    boolean isReadOnly(String query) throws SQLException {
        try (Statement statement = target.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            boolean readOnly = row.next() && row.getBoolean(1);
            target.rollback(); // the isolation level of the next transaction must be set before any query
            return readOnly;
        } catch (SQLException failure) {
            evict();
            throw failure;
        }
    }

    /** Whether the session was found to be read-only. */
    boolean isReadOnly() {
        return readOnly;
    }

    /**
     * Records that a statement or the commit has failed. If the server rejects writes, and the pool replaces evicted sessions, this one is
     * evicted when it is {@linkplain #restore returned}.
     */
    public void failed(Throwable failure) {
        readOnly |= SqlErrors.isReadOnly(failure);
    }

    /** Whether the next transaction can use the session as it is. */
    boolean isReusable() {
        return !transactionOpen;
    }

    long ageNanos() {
        return System.nanoTime() - openedAt;
    }

    /** Records that the session is idle from now on. */
    void idle() {
        idleSince = System.nanoTime();
    }

    long idleNanos() {
        return System.nanoTime() - idleSince;
    }

    /** Restores the connection's settings and returns it; returns null if it was evicted. */
    @Nullable Connection restore() {
        if (readOnly && eviction.replacesLiving()) {
            evict();
            return null;
        }
        try {
            if (transactionOpen) {
                target.rollback();
            }
            limits.set(target, limitsBefore);
            statements.restore();
            if (autoCommitBefore) {
                target.setAutoCommit(true);
            }
            if (setsIsolation() && !limits.areOfTransactions()) {
                target.setTransactionIsolation(isolationBefore);
            }
            target.setNetworkTimeout(Runnable::run, networkTimeoutBefore);
        } catch (SQLException | RuntimeException | Error failure) {
            log.debug("The settings of a connection could not be restored; it is evicted", failure);
            evict();
            return null;
        }
        return target;
    }

    void evict() {
        eviction.evict(target);
    }
}
