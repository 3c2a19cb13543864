package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The host's data source as this library uses it: a few connections at once, at {@code READ COMMITTED} with auto-commit
 * off, which wait only shortly for a lock, and are ended by the server when they stay idle in the middle of a
 * transaction, so that a JVM that froze there blocks its semaphores for seconds, not hours. All of it is restored before
 * the host gets them back.
 *
 * <p>An object of its own also keeps our transactions apart from the host's: Spring binds connections by data source.
 */
public final class SemaphoreDataSource extends DelegatingDataSource implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(SemaphoreDataSource.class);

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final DatabaseThreads threads;
    private static final Duration RESERVED_LOCK_WAIT = Duration.ofSeconds(1);
    private static final Duration RESERVED_IDLE_LIMIT = Duration.ofSeconds(3);

    private final Supplier<Pools> newPools;
    private volatile Pools pools;

    @SuppressWarnings("ThreadLocalUsage") // one for each engine, which is one for each database
    private final ThreadLocal<Boolean> onReserved = new ThreadLocal<>();

    /** The sessions that all share, and the one that is reserved, if there is one. */
    private record Pools(SessionPool shared, SessionPool reserved) {}

    /**
     * Wraps the host's data source.
     *
     * @param lockWait how long a statement waits for a row lock
     * @param idleLimit after how long without a statement the server ends the session of an open transaction
     * @param maxConnections how many connections may be used at once; who wants one more waits. One of them is reserved,
     *     see {@link #onReservedConnection}, unless there is only one
     * @param pipelining whether several statements are sent at once where the driver can
     * @param threads where the connections are used
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
        DataSource target = obtainTargetDataSource();
        SessionLimits limits = database.sessionLimits(lockWait, idleLimit);
        SessionLimits reservedLimits =
                database.sessionLimits(shorter(lockWait, RESERVED_LOCK_WAIT), shorter(idleLimit, RESERVED_IDLE_LIMIT));
        // MariaDB refuses a lock with NOWAIT, which is sent then, by the error of a lock wait that timed out
        Pipelining statements = new Pipelining(pipelining && database == Database.MYSQL);
        String readOnly = database.readOnlyQuery();
        this.newPools = () -> {
            SessionPool shared =
                    new SessionPool(target, limits, statements, readOnly, Math.max(1, maxConnections - 1), PATIENCE);
            return new Pools(
                    shared,
                    maxConnections == 1
                            ? shared
                            : new SessionPool(target, reservedLimits, statements, readOnly, 1, PATIENCE));
        };
        this.pools = newPools.get();
    }

    /** Where its connections are used. */
    public DatabaseThreads threads() {
        return threads;
    }

    /**
     * The transaction of this thread has failed with this, and is about to be rolled back. Where its session has become
     * read-only, the host's pool is made to drop it.
     */
    public void failed(Throwable failure) {
        if (SqlErrors.isReadOnly(failure)
                && TransactionSynchronizationManager.getResource(this) instanceof ConnectionHolder bound) {
            try {
                bound.getConnection().unwrap(PreparedSession.class).failed(failure);
            } catch (SQLException unusable) {
                log.debug("The connection of a transaction that failed cannot be asked for", unusable);
            }
        }
    }

    @Override
    public Connection getConnection() throws SQLException {
        Pools current = pools;
        return (onReserved.get() == null ? current.shared() : current.reserved()).borrow();
    }

    /**
     * Has this thread use the one connection that is reserved for what must not wait behind anything else: the renewals and
     * heartbeats of grants that are kept alive. For one thread at a time. A statement on it waits at most a second for a
     * lock, and is given up soon where the server does not answer.
     */
    public void onReservedConnection(Runnable work) {
        onReserved.set(true);
        try {
            work.run();
        } finally {
            onReserved.remove();
        }
    }

    /** Gives the host its connections back. What is asked for afterwards is given back after each transaction. */
    @Override
    public void close() {
        pools.shared().close();
        pools.reserved().close();
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    /**
     * Gives the host its connections back until {@link #resume}, and waits for those in use.
     *
     * @param patience how long
     */
    public void suspend(Duration patience) {
        close();
        pools.shared().awaitReturns(patience);
        pools.reserved().awaitReturns(patience);
    }

    /** Keeps sessions between two transactions again. */
    public void resume() {
        pools = newPools.get();
    }

    @Override
    public Connection getConnection(String username, String password) throws SQLException {
        throw new UnsupportedOperationException("Semaphores connect as the host's DataSource does");
    }

    /**
     * What the host's transactions are bound to: beneath a transaction-aware proxy, which would hand out the connection of
     * the transaction of the moment.
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
