package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection of the host's, prepared for short locking transactions: {@code READ COMMITTED}, auto-commit off, limits to
 * its waits. It remembers what it was before, and is given back as that; where that fails, the pool is made to drop it.
 * Used by one thread at a time.
 */
final class PreparedSession {

    private static final Logger log = LoggerFactory.getLogger(PreparedSession.class);

    private final Connection target;
    private final boolean autoCommitBefore;
    private final int isolationBefore;
    private final int networkTimeoutBefore;
    private final SessionLimits limits;
    private final SessionLimits.Restoration limitsBefore;
    private final QueuedStatements statements;
    private final long openedAt = System.nanoTime();
    private boolean transactionOpen;
    private boolean failed;
    private boolean readOnly;

    private PreparedSession(
            Connection target,
            boolean autoCommitBefore,
            int isolationBefore,
            int networkTimeoutBefore,
            SessionLimits limits,
            SessionLimits.Restoration limitsBefore,
            QueuedStatements statements) {
        this.target = target;
        this.autoCommitBefore = autoCommitBefore;
        this.isolationBefore = isolationBefore;
        this.networkTimeoutBefore = networkTimeoutBefore;
        this.limits = limits;
        this.limitsBefore = limitsBefore;
        this.statements = statements;
    }

    /** Prepares the connection; makes the pool drop it when that fails. */
    static PreparedSession open(Connection target, SessionLimits limits, Pipelining pipelining) throws SQLException {
        try {
            boolean autoCommit = target.getAutoCommit();
            int isolation = target.getTransactionIsolation();
            int networkTimeout = target.getNetworkTimeout();
            // no statement of ours takes longer than its wait for a lock; a server that fell silent is not waited for
            Duration patience = limits.lockWait().plus(limits.idle());
            target.setNetworkTimeout(Runnable::run, Math.toIntExact(patience.toMillis()));
            if (isolation != Connection.TRANSACTION_READ_COMMITTED) {
                target.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            }
            if (autoCommit) {
                target.setAutoCommit(false);
            }
            return new PreparedSession(
                    target,
                    autoCommit,
                    isolation,
                    networkTimeout,
                    limits,
                    limits.applyToSession(target),
                    statementsOf(target, pipelining));
        } catch (SQLException | RuntimeException | Error failure) {
            evict(target);
            throw failure;
        }
    }

    private static QueuedStatements statementsOf(Connection target, Pipelining pipelining) {
        Optional<QueuedStatements> pipelined =
                pipelining.isPossible() ? MultiStatements.open(target, pipelining) : Optional.empty();
        return pipelined.orElseGet(() -> new QueuedStatements(target));
    }

    Connection target() {
        return target;
    }

    /** Begins a transaction. */
    void begin() throws SQLException {
        transactionOpen = true;
        limits.applyToTransaction(target);
    }

    /** The statements that wait for the next round trip of its transaction. */
    QueuedStatements statements() {
        return statements;
    }

    /** Whether its server refuses writes, by what the server says. */
    boolean isReadOnly(String query) throws SQLException {
        try (Statement statement = target.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            return row.next() && row.getBoolean(1);
        }
    }

    /** A transaction on it has failed with this. */
    void failed(Throwable failure) {
        failed = true;
        readOnly |= SqlErrors.isReadOnly(failure);
    }

    /** Whether it was found to be read-only, so that nobody can use it any more. */
    boolean isReadOnly() {
        return readOnly;
    }

    void commit() throws SQLException {
        failed = true;
        try {
            statements.commit();
        } catch (SQLException failure) {
            failed(failure);
            throw failure;
        }
        failed = false;
        transactionOpen = false;
    }

    /** One that fails must not hide why it was wanted; what it left open is ended together with the connection. */
    void rollback() {
        failed = true; // whatever went wrong: the next transaction had better begin on another connection
        statements.discard();
        try {
            target.rollback();
            transactionOpen = false;
        } catch (SQLException | RuntimeException | Error failure) {
            log.debug("A transaction could not be rolled back; its connection is going to be given up", failure);
        }
    }

    /** Whether the next transaction may begin on it as it is. */
    boolean isReusable() {
        return !failed && !transactionOpen;
    }

    long ageNanos() {
        return System.nanoTime() - openedAt;
    }

    /** Gives the connection back to the host's pool, as it was; the pool is made to drop one that is read-only. */
    void giveBack() throws SQLException {
        if (readOnly) {
            giveUp();
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
            log.debug("A connection could not be restored to what it was and is given up", failure);
            evict(target);
            return;
        }
        target.close();
    }

    /** Makes the pool drop the connection. */
    void giveUp() {
        evict(target);
    }

    /**
     * Makes the pool drop the connection: it is cut off, and a statement through the pool's own wrapper then shows the
     * pool that it is dead.
     */
    private static void evict(Connection connection) {
        try (connection) {
            connection.abort(Runnable::run);
            try (Statement probe = connection.createStatement()) {
                probe.execute("select 1");
            }
        } catch (SQLException | RuntimeException | Error dead) {
            log.trace("The connection that was given up is dead, as intended", dead);
        }
    }
}
