package io.dbsemaphore.jdbc;

import io.dbsemaphore.concurrent.DaemonThreads;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.BeanWrapper;
import org.springframework.beans.BeansException;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

/**
 * The host's data source as the library uses it: few connections at a time, at {@code READ COMMITTED} with auto-commit
 * off, with a short limit for lock waits, and ended by the server if they stay idle within a transaction, so that a JVM
 * that is frozen there blocks its semaphores for seconds instead of hours. All settings are restored before the
 * connections are returned to the host.
 *
 * <p>A thread has at most one session at a time, for one transaction, which has nothing to do with a transaction of the host.
 */
public final class Sessions implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Sessions.class);

    /**
     * How long a statement waits for a row lock. A transaction that waits for longer is rolled back and tried again, so that
     * it frees the rows that it has locked; a second is the shortest time that MySQL can count.
     */
    private static final Duration MAX_LOCK_WAIT = Duration.ofSeconds(1);

    private static final Duration RESERVED_IDLE_LIMIT = Duration.ofSeconds(3);

    /** How long a session stays prepared for its next transaction. */
    private static final Duration LONGEST_IDLE = Duration.ofMillis(20);

    /** The same for the connection that is kept anyway: longer than the pause between two confirmations of permits that are reused. */
    private static final Duration KEPT_LONGEST_IDLE = Duration.ofMillis(200);

    /** If there are fewer connections, none is kept: a method that holds a permit and begins a transaction needs one itself. */
    private static final int FEWEST = 3;

    /** The names of the maximum pool size: in HikariCP; Apache DBCP; Tomcat and Druid; c3p0, Atomikos and UCP. */
    private static final List<String> SIZES = List.of("maximumPoolSize", "maxTotal", "maxActive", "maxPoolSize");

    private final DataSource dataSource;
    private final DatabaseThreads threads;
    private final SessionPool.Host host;
    private final SessionPool shared;
    private final SessionPool reserved;
    private final boolean mayKeepReserved;

    @SuppressWarnings("ThreadLocalUsage") // there is one engine for each database
    private final ThreadLocal<SessionPool> pool;

    @SuppressWarnings("ThreadLocalUsage")
    private final ThreadLocal<@Nullable Session> current = new ThreadLocal<>();

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
    public Sessions(
            DataSource host,
            Database database,
            Duration lockWait,
            Duration idleLimit,
            int maxConnections,
            boolean pipelining,
            DatabaseThreads threads) {
        this.dataSource = outsideOfHostTransactions(host);
        this.threads = threads;
        this.host = new SessionPool.Host(dataSource);
        Duration statementLockWait = shorter(lockWait, MAX_LOCK_WAIT);
        SessionLimits limits = new SessionLimits(database, statementLockWait, idleLimit);
        SessionLimits reservedLimits =
                new SessionLimits(database, statementLockWait, shorter(idleLimit, RESERVED_IDLE_LIMIT));
        Pipelining statements = new Pipelining(database, pipelining);
        ScheduledThreadPoolExecutor evictor = new DaemonThreads().scheduler("semaphore-connections");
        evictor.setKeepAliveTime(1, TimeUnit.SECONDS);
        evictor.allowCoreThreadTimeOut(true);
        shared = new SessionPool(
                this.host, database, limits, statements, Math.max(1, maxConnections - 1), LONGEST_IDLE, evictor);
        mayKeepReserved = maxConnections >= FEWEST && !isSmall(dataSource);
        Duration longestIdle = mayKeepReserved ? KEPT_LONGEST_IDLE : LONGEST_IDLE;
        reserved = maxConnections == 1
                ? shared
                : new SessionPool(this.host, database, reservedLimits, statements, 1, longestIdle, evictor);
        pool = ThreadLocal.withInitial(() -> shared);
    }

    /** The host's data source. */
    public DataSource dataSource() {
        return dataSource;
    }

    public DatabaseThreads threads() {
        return threads;
    }

    /**
     * Begins a transaction on the current thread, which must {@linkplain #end end} it.
     *
     * @throws IllegalStateException if the thread is in a transaction of the library
     */
    public Session begin() throws SQLException {
        if (current.get() != null) {
            throw new IllegalStateException("A transaction of the semaphores within another one");
        }
        Session session = pool.get().begin();
        current.set(session);
        return session;
    }

    /** The session of the current thread's transaction. */
    public Session current() {
        Session session = current.get();
        if (session == null) {
            throw new IllegalStateException("No transaction of the semaphores on this thread");
        }
        return session;
    }

    /** Ends the current thread's transaction, which is rolled back unless it was committed. */
    public void end() throws SQLException {
        Session ended = current();
        current.remove();
        pool.get().end(ended);
    }

    /**
     * Lets the current thread use the connection that is reserved for work that must not wait for other work: renewals
     * and heartbeats of grants that are kept alive. For one thread at a time. A statement on it fails soon if the server
     * does not respond.
     */
    public void onReservedConnection(Runnable work) {
        pool.set(reserved);
        try {
            work.run();
        } finally {
            pool.remove();
        }
    }

    /**
     * Sets whether the reserved connection is kept between transactions, so that it is available whatever the host takes from its
     * pool. Of two connections, or of a pool with two, none is kept; of a pool of unknown size it is. To be called by the thread that
     * uses it.
     */
    public void keepReserved(boolean keep) {
        if (mayKeepReserved) {
            try {
                reserved.keepConnection(keep);
            } catch (SQLException failure) {
                throw new CannotGetJdbcConnectionException(
                        "The reserved connection cannot be taken or returned", failure);
            }
        }
    }

    private static boolean isSmall(DataSource host) {
        BeanWrapper properties = PropertyAccessorFactory.forBeanPropertyAccess(DatabaseUrl.poolOf(host));
        try {
            return SIZES.stream()
                    .filter(properties::isReadableProperty)
                    .anyMatch(size ->
                            properties.getPropertyValue(size) instanceof Integer max && max > 0 && max < FEWEST);
        } catch (BeansException unknown) {
            log.debug("The size of the pool is not known", unknown);
            return false;
        }
    }

    boolean isExhaustedFor(Duration time) {
        return host.isExhaustedFor(time);
    }

    /** Returns all connections to the host. Those of transactions that begin afterwards are returned after each transaction. */
    @Override
    public void close() {
        shared.close();
        reserved.close();
    }

    /**
     * Returns all connections to the host until {@link #resume}, and waits for those in use.
     *
     * @param timeout how long to wait
     */
    public void suspend(Duration timeout) {
        close();
        shared.awaitReturns(timeout);
        reserved.awaitReturns(timeout);
    }

    /** Resumes keeping sessions between transactions. */
    public void resume() {
        shared.resume();
        reserved.resume();
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
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
