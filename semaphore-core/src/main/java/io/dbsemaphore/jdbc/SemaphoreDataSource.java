package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The host's data source as the library uses it: few connections at a time, at {@code READ COMMITTED} with auto-commit
 * off, with a short limit for lock waits, and ended by the server if they stay idle within a transaction, so that a JVM
 * that is frozen there blocks its semaphores for seconds instead of hours. All settings are restored before the
 * connections are returned to the host.
 *
 * <p>Being a separate object, it also separates the library's transactions from the host's: Spring binds connections by
 * data source.
 */
public final class SemaphoreDataSource extends DelegatingDataSource implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(SemaphoreDataSource.class);

    /**
     * How long a statement waits for a row lock. A transaction that waits for longer is rolled back and tried again, so that
     * it frees the rows that it has locked; a second is the shortest time that MySQL can count.
     */
    private static final Duration MAX_LOCK_WAIT = Duration.ofSeconds(1);

    private static final Duration RESERVED_IDLE_LIMIT = Duration.ofSeconds(3);

    private final DatabaseThreads threads;
    private final SessionPool.Host hostPool;
    private final Supplier<Pools> newPools;
    private volatile Pools pools;

    @SuppressWarnings("ThreadLocalUsage") // there is one engine for each database
    private final ThreadLocal<Boolean> onReserved = ThreadLocal.withInitial(() -> false);

    /** The shared sessions, and the reserved one; both are the same pool if there is one connection only. */
    private record Pools(
            SessionPool shared,
            SessionPool reserved,
            @Nullable KeptConnection kept) {}

    /**
     * Wraps the host's data source.
     *
     * @param lockWait how long a statement waits for a row lock, a second at most
     * @param idleLimit how long a session may be idle within a transaction before the server ends it
     * @param maxConnections how many connections may be used at a time; callers wait if there are no more. Unless there
     *     is only one, one of them is reserved, see {@link #onReservedConnection}
     * @param pipelining whether several statements are sent at once if the driver supports it
     * @param threads the threads on which the connections are used
     */
    public SemaphoreDataSource(
            DataSource host,
            Database database,
            Duration lockWait,
            Duration idleLimit,
            int maxConnections,
            boolean pipelining,
            DatabaseThreads threads) {
        super(outsideOfHostTransactions(host));
        this.threads = threads;
        this.hostPool = new SessionPool.Host(obtainTargetDataSource());
        Duration statementLockWait = shorter(lockWait, MAX_LOCK_WAIT);
        SessionLimits limits = new SessionLimits(database, statementLockWait, idleLimit);
        SessionLimits reservedLimits =
                new SessionLimits(database, statementLockWait, shorter(idleLimit, RESERVED_IDLE_LIMIT));
        Pipelining statements = new Pipelining(database, pipelining);
        this.newPools = () -> {
            SessionPool shared =
                    new SessionPool(hostPool, database, limits, statements, Math.max(1, maxConnections - 1));
            KeptConnection kept = KeptConnection.of(obtainTargetDataSource(), hostPool, maxConnections);
            SessionPool.Host reserved = kept == null ? hostPool : new SessionPool.Host(kept);
            return new Pools(
                    shared,
                    maxConnections == 1 ? shared : new SessionPool(reserved, database, reservedLimits, statements, 1),
                    kept);
        };
        this.pools = newPools.get();
    }

    public DatabaseThreads threads() {
        return threads;
    }

    /**
     * Reports that the transaction of the current thread has failed and is about to be rolled back. If its session is
     * read-only, it is evicted from the host's pool.
     */
    public void failed(Throwable failure) {
        if (SqlErrors.isReadOnly(failure)
                && TransactionSynchronizationManager.getResource(this) instanceof ConnectionHolder bound) {
            try {
                bound.getConnection().unwrap(Session.class).failed(failure);
            } catch (SQLException unusable) {
                log.debug("The connection of a failed transaction cannot be accessed", unusable);
            }
        }
    }

    @Override
    public Connection getConnection() throws SQLException {
        return (onReserved.get() ? pools.reserved() : pools.shared()).borrow();
    }

    /**
     * Lets the current thread use the connection that is reserved for work that must not wait for other work: renewals
     * and heartbeats of grants that are kept alive. For one thread at a time. A statement on it fails soon if the server
     * does not respond.
     */
    public void onReservedConnection(Runnable work) {
        onReserved.set(true);
        try {
            work.run();
        } finally {
            onReserved.remove();
        }
    }

    /**
     * Sets whether the reserved connection is kept between transactions, so that it is available whatever the host takes from its
     * pool. Of two connections, or of a pool with two, none is kept. To be called by the thread that uses it.
     */
    public void keepReserved(boolean keep) {
        KeptConnection kept = pools.kept();
        if (kept == null) {
            return;
        }
        try {
            if (keep) {
                kept.keep();
            } else {
                kept.release();
            }
        } catch (SQLException failure) {
            throw new CannotGetJdbcConnectionException("The reserved connection cannot be taken or returned", failure);
        }
    }

    boolean isExhaustedFor(Duration time) {
        return hostPool.isExhaustedFor(time);
    }

    /**
     * Returns all connections to the host. Connections that are requested afterwards are returned after each
     * transaction.
     */
    @Override
    public void close() {
        pools.shared().close();
        pools.reserved().close();
        KeptConnection kept = pools.kept();
        if (kept != null) {
            kept.close();
        }
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    /**
     * Returns all connections to the host until {@link #resume}, and waits for those in use.
     *
     * @param timeout how long to wait
     */
    public void suspend(Duration timeout) {
        close();
        pools.shared().awaitReturns(timeout);
        pools.reserved().awaitReturns(timeout);
    }

    /** Resumes keeping sessions between transactions. */
    public void resume() {
        pools = newPools.get();
    }

    @Override
    public Connection getConnection(String username, String password) throws SQLException {
        throw new UnsupportedOperationException("The semaphores use the credentials of the host's DataSource");
    }

    /**
     * The data source that the host's transactions are bound to: the target of a transaction-aware proxy, which would
     * return the connection of the current transaction.
     */
    public static DataSource outsideOfHostTransactions(DataSource host) {
        DataSource candidate = host;
        while (candidate instanceof DelegatingDataSource delegating && delegating.getTargetDataSource() != null) {
            DataSource target = delegating.getTargetDataSource();
            if (delegating instanceof TransactionAwareDataSourceProxy) {
                return outsideOfHostTransactions(target);
            }
            candidate = target;
        }
        return host;
    }
}
