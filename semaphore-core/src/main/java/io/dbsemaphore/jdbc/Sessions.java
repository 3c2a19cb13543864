package io.dbsemaphore.jdbc;

import io.dbsemaphore.concurrent.Uninterruptibles;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

/**
 * The host's data source as the library uses it: few connections at a time, at {@code READ COMMITTED}, with auto-commit
 * off and short lock waits. The server ends a transaction that stays idle, so that a frozen JVM blocks semaphores for
 * seconds instead of hours. All settings are restored before the connections are returned to the host.
 *
 * <p>A thread has at most one session at a time, for one transaction, which is independent of transactions of the host.
 *
 * <p>{@code SessionLimitsIntegrationTests} and {@code StraySessionIntegrationTests} test it.
 */
public final class Sessions implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Sessions.class);

    /**
     * How long a statement waits for a row lock. Then its transaction is rolled back, which unlocks its rows, and is tried again. MySQL
     * allows no limit below a second.
     */
    private static final Duration MAX_LOCK_WAIT = Duration.ofSeconds(1);

    private static final Duration RESERVED_IDLE_LIMIT = Duration.ofSeconds(3);

    /** How long a session stays prepared for its next transaction. */
    private static final Duration LONGEST_IDLE = Duration.ofMillis(20);

    /** The same for the reserved connection, which is kept anyway. Longer than the pause between two confirmations of reused permits. */
    private static final Duration RESERVED_LONGEST_IDLE = Duration.ofMillis(200);

    /** With fewer connections, none is kept: work that holds a permit may need one for its own transaction. */
    private static final int FEWEST = 3;

    /** The property for the maximum pool size in HikariCP; Apache DBCP; Tomcat and Druid; c3p0, Atomikos and UCP. */
    private static final List<String> SIZES = List.of("maximumPoolSize", "maxTotal", "maxActive", "maxPoolSize");

    private final DataSource dataSource;
    private final Eviction eviction;
    private final Database database;
    private final DatabaseThreads threads;
    private final Pipelining pipelining;
    private final SessionPool shared;
    private final SessionPool reserved;
    private final boolean mayKeepReserved;
    /** The number of threads that wait for a connection of the host. */
    private final AtomicInteger waiting = new AtomicInteger();

    /** Whether the thread of the reserved connection waits for it. The other threads may be waiting for that thread. */
    private volatile boolean reservedWaits;

    /** When a thread last began or ended a wait for a connection. */
    private volatile long lastChange;

    /** Whether the host's data source has lent a connection with auto-commit off. */
    private volatile boolean withoutAutoCommit;

    @SuppressWarnings("ThreadLocalUsage") // there is one engine for each database
    private final ThreadLocal<SessionPool> pool;

    @SuppressWarnings("ThreadLocalUsage")
    private final ThreadLocal<@Nullable Session> current = new ThreadLocal<>();

    /**
     * Wraps the host's data source.
     *
     * @param lockWait how long a statement waits for a row lock, a second at most
     * @param idleLimit how long a session may be idle within a transaction before the server ends it
     * @param maxConnections how many connections may be used at a time; further callers wait. One connection is {@linkplain
     *     #onReservedConnection reserved}, unless it is the only one
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
        this.eviction = new Eviction(dataSource);
        this.database = database;
        this.threads = threads;
        this.pipelining = new Pipelining(
                database,
                pipelining,
                DatabaseUrl.propertiesOf(dataSource, Integer.class, List.of("maxOpenPreparedStatements"))
                        .noneMatch(max -> max > 0));
        Duration statementLockWait = shorter(lockWait, MAX_LOCK_WAIT);
        shared = new SessionPool(
                new SessionLimits(database, statementLockWait, idleLimit),
                Math.max(1, maxConnections - 1),
                LONGEST_IDLE);
        mayKeepReserved = maxConnections >= FEWEST && !isSmall(dataSource);
        reserved = maxConnections == 1
                ? shared
                : new SessionPool(
                        new SessionLimits(database, statementLockWait, shorter(idleLimit, RESERVED_IDLE_LIMIT)),
                        1,
                        mayKeepReserved ? RESERVED_LONGEST_IDLE : Duration.ZERO);
        pool = ThreadLocal.withInitial(() -> shared);
    }

    /** Returns the host's data source. */
    public DataSource dataSource() {
        return dataSource;
    }

    /** Whether the host's data source has lent a connection with auto-commit off. */
    public boolean withoutAutoCommit() {
        return withoutAutoCommit;
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

    /** Returns the session of the current thread's transaction. */
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
     * Runs work on the reserved connection, on the current thread: renewals and heartbeats, which must not wait for other
     * work. For one thread at a time. A statement on this connection fails soon if the server does not respond.
     */
    public void onReservedConnection(Runnable work) {
        pool.set(reserved);
        try {
            threads.runAsOwn(work);
        } finally {
            pool.remove();
        }
    }

    /**
     * Sets whether the reserved connection is kept between transactions, so that it is available even if the host uses up its pool. It is
     * not kept if the library, or a pool of known size, has fewer than three connections. Also restores the host's settings of a connection
     * that has been idle for some time. The thread that uses the connection calls this after each use, and repeatedly while it is kept.
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

    /** Whether two transactions can be open at a time, as far as the size of the pool is known. */
    public boolean areSeveral() {
        return reserved != shared
                && DatabaseUrl.propertiesOf(dataSource, Integer.class, SIZES).noneMatch(max -> max == 1);
    }

    private static boolean isSmall(DataSource host) {
        return DatabaseUrl.propertiesOf(host, Integer.class, SIZES).anyMatch(max -> max > 0 && max < FEWEST);
    }

    /** Returns a connection of the host. The configuration of its pool limits the wait. */
    private Connection connectionOfHost() throws SQLException {
        boolean interrupted =
                Thread.interrupted(); // application code may have left the flag set, and a pool would fail at once
        if (waiting.get() == 0) {
            lastChange = System.nanoTime(); // before the thread counts as waiting: the last change may be long ago
        }
        waiting.incrementAndGet();
        boolean isReserved = pool.get() == reserved;
        try {
            if (isReserved) {
                reservedWaits = true;
                shared.returnIdleFor(0);
            }
            return dataSource.getConnection();
        } finally {
            if (isReserved) {
                reservedWaits = false;
            }
            lastChange = System.nanoTime();
            waiting.decrementAndGet();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Ends a connection that was taken from the data source, and closes it. */
    void evict(Connection connection) {
        eviction.evict(connection);
    }

    /** Whether threads have waited for a connection of the host for this long, and none of them has got one. */
    boolean isExhaustedFor(Duration time) {
        return waiting.get() > 0 && System.nanoTime() - lastChange > time.toNanos();
    }

    /** Returns all connections to the host. From then on, connections are returned after each transaction. */
    @Override
    public void close() {
        shared.close();
        reserved.close();
    }

    /**
     * Gives all connections back to the host until {@link #resume}; waits for those in use.
     *
     * @param timeout how long to wait
     */
    public void suspend(Duration timeout) {
        long end = System.nanoTime() + timeout.toNanos();
        close();
        shared.awaitReturns(timeout);
        reserved.awaitReturns(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
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
     * Returns the data source outside the host's transactions: for a transaction-aware proxy, its target, because the proxy returns the
     * current transaction's connection.
     */
    public static DataSource outsideOfHostTransactions(DataSource host) {
        DataSource outside = host;
        DataSource candidate = host;
        while (candidate instanceof DelegatingDataSource delegating && delegating.getTargetDataSource() != null) {
            candidate = delegating.getTargetDataSource();
            outside = delegating instanceof TransactionAwareDataSourceProxy ? candidate : outside;
        }
        return outside;
    }

    /**
     * The few connections that the library uses at a time, whatever the number of threads. Preparing a connection takes more
     * round trips than a release, so a session that is used repeatedly is kept for some milliseconds. A session that is used
     * now and then is returned at once to the host's pool, which may have no other.
     *
     * <p>After a failover the host's pool may still have sessions to the former primary, which is now read-only. When a
     * read-only session is found, each session is checked before use for some seconds, and read-only ones are evicted, so that
     * the host's pool opens new ones. The number of evictions is bounded: if the whole database is read-only, new sessions do
     * not help. An unknown pool might not replace working sessions: they are returned to it, and the next attempt takes what it lends.
     *
     * <p>One connection can be {@linkplain #keepConnection kept}: it is taken from the host's pool once and not given back after
     * each transaction. Otherwise a host that uses its whole pool for a long time would block renewals and heartbeats, and lose
     * its permits. When the connection has been idle for some time, the settings of the host are restored, because the limits of the
     * library would end it. If the server or a firewall has ended it meanwhile, its next preparation fails, and it is replaced.
     */
    private final class SessionPool {

        private static final Duration CONNECTION_TIMEOUT = Duration.ofSeconds(30);

        /** Shorter than the leak detection of pools; also lets the pool check each connection this often. */
        private static final Duration LONGEST_LOAN = Duration.ofSeconds(1);

        private static final int BUSY_AFTER = 3;
        private static final Duration SUSPECTED_FOR = Duration.ofSeconds(10);
        private static final int MAX_EVICTIONS = 100;

        /** A session that was idle for longer may have been ended by its limits. */
        private static final long TRUSTED_NANOS = Duration.ofMillis(500).toNanos();

        /** How long to wait for an answer on the kept connection, which may have ended. Short, because a lease or a time to live may be. */
        private static final int CHECK_MILLIS = 2_000;

        private final SessionLimits limits;
        private final int size;
        private final Duration longestIdle;
        /** Permits to use a connection: one for each session that is in use or being returned. */
        private final Semaphore places;

        /** The session that was used last comes first. */
        private final Deque<Session> idle = new ArrayDeque<>();

        private boolean returnScheduled;
        private boolean closed;
        private boolean keeps;
        private @Nullable Connection kept;
        private int quickReturns;
        private long lastReturn;
        private int evictionsLeft;
        private long suspectedUntil = System.nanoTime();

        /**
         * Creates a pool without sessions.
         *
         * @param longestIdle how long a session may be idle between transactions before it is returned
         */
        SessionPool(SessionLimits limits, int size, Duration longestIdle) {
            this.limits = limits;
            this.size = size;
            this.longestIdle = longestIdle;
            this.lastReturn = System.nanoTime() - longestIdle.toNanos();
            this.places = new Semaphore(size, true);
        }

        /** Begins a transaction on a session, which must be {@linkplain #end returned}. */
        Session begin() throws SQLException {
            if (!Uninterruptibles.acquire(places, CONNECTION_TIMEOUT.toNanos())) {
                throw new SQLTransientConnectionException(
                        "All %d connections of the semaphores (semaphore.jdbc.max-connections) were in use for %s"
                                .formatted(size, CONNECTION_TIMEOUT));
            }
            try {
                Session session = open();
                while (isOfFormerPrimary(session)) {
                    session.evict();
                    session = open();
                }
                session.begin();
                return session;
            } catch (SQLException | RuntimeException | Error failure) {
                places.release();
                throw failure;
            }
        }

        private Session open() throws SQLException {
            Session last = takeIdle();
            if (last != null && last.idleNanos() <= TRUSTED_NANOS) {
                return last;
            }
            if (last != null) { // this process was suspended
                last.evict();
            }
            Connection spare = takeKept();
            if (spare != null) {
                try {
                    return Session.open(spare, eviction, limits, pipelining, CHECK_MILLIS);
                } catch (SQLException dead) {
                    log.debug("The connection of the keep-alive was ended, and is replaced", dead);
                }
            }
            Session opened =
                    Session.open(connectionOfHost(), eviction, limits, pipelining, limits.longestAnswerMillis());
            if (opened.isWithoutAutoCommit()) {
                withoutAutoCommit = true;
            }
            return opened;
        }

        /** Takes back a session after its transaction. */
        void end(Session session) throws SQLException {
            if (session.isReadOnly()) {
                suspectFailover();
            }
            try {
                if (!retain(session)) {
                    returnToHost(session);
                }
            } finally {
                places.release();
            }
        }

        private synchronized void suspectFailover() {
            if (!isFailoverSuspected()) {
                suspectedUntil = System.nanoTime() + SUSPECTED_FOR.toNanos();
                evictionsLeft = MAX_EVICTIONS;
            }
        }

        private synchronized boolean isFailoverSuspected() {
            return System.nanoTime() - suspectedUntil < 0;
        }

        private boolean isOfFormerPrimary(Session session) throws SQLException {
            return eviction.replacesLiving()
                    && isFailoverSuspected()
                    && session.isReadOnly(database.readOnlyQuery())
                    && mayEvict();
        }

        private synchronized boolean mayEvict() {
            return evictionsLeft-- > 0;
        }

        /** Returns the idle connections. Those in use are returned after their transactions. */
        void close() {
            synchronized (this) {
                closed = true;
                keeps = false;
            }
            returnIdleFor(0);
        }

        /** Allows sessions to be kept between transactions again. */
        synchronized void resume() {
            closed = false;
        }

        /** Waits until no session is in use, for a limited time. An interrupt ends the wait. */
        void awaitReturns(Duration longest) {
            try {
                if (places.tryAcquire(size, longest.toMillis(), TimeUnit.MILLISECONDS)) {
                    places.release(size);
                    returnIdleFor(0); // sessions that became idle just before the end
                } else {
                    log.warn(
                            "{} connection(s) of the semaphores were still in use after {}: they are returned to the pool"
                                    + " when their transactions end",
                            size - places.availablePermits(),
                            longest);
                }
            } catch (InterruptedException interrupt) {
                Thread.currentThread().interrupt();
            }
        }

        /** Sets whether one connection is kept. Takes or returns it, unless it is in use. Returns sessions that have been idle for too long. */
        void keepConnection(boolean keep) throws SQLException {
            boolean missing;
            synchronized (this) {
                keeps = keep && !closed;
                missing =
                        keeps && kept == null && idle.isEmpty(); // a session that is still prepared has the connection
            }
            returnIdleFor(keep ? longestIdle.toNanos() : 0);
            if (missing && places.tryAcquire()) {
                try {
                    giveBack(connectionOfHost());
                } finally {
                    places.release();
                }
            }
        }

        private synchronized @Nullable Connection takeKept() {
            Connection taken = kept;
            kept = null;
            return taken;
        }

        private void returnToHost(Session session) throws SQLException {
            Connection restored = session.restore();
            if (restored != null && session.isReadOnly()) {
                restored.close(); // not kept: the next one may be able to write
            } else if (restored != null) {
                giveBack(restored);
            }
        }

        private void giveBack(Connection connection) throws SQLException {
            synchronized (this) {
                if (keeps && kept == null) {
                    kept = connection;
                    return;
                }
            }
            connection.close();
        }

        private synchronized @Nullable Session takeIdle() {
            boolean quick = System.nanoTime() - lastReturn < longestIdle.toNanos();
            quickReturns = quick ? Math.min(quickReturns + 1, BUSY_AFTER) : 0;
            return idle.pollFirst();
        }

        /** Keeps the session idle for the next transaction, or returns false. */
        private synchronized boolean retain(Session session) {
            lastReturn = System.nanoTime();
            if (closed
                    || reservedWaits
                    || quickReturns < BUSY_AFTER
                    || !session.isReusable()
                    || (!keeps && session.ageNanos() > LONGEST_LOAN.toNanos())) {
                return false;
            }
            session.idle();
            idle.addFirst(session);
            scheduleReturn();
            return true;
        }

        /**
         * Schedules the next return, except of the reserved connection: its own thread returns it, because all others may be waiting for
         * that thread.
         */
        private void scheduleReturn() {
            if (this == shared && !returnScheduled && !idle.isEmpty()) {
                threads.schedule(this::returnIdle, longestIdle.toNanos());
                returnScheduled = true;
            }
        }

        /** Returns the sessions that have been idle for too long. */
        void returnIdle() {
            synchronized (this) {
                returnScheduled = false;
            }
            try {
                returnIdleFor(longestIdle.toNanos());
            } finally {
                synchronized (this) {
                    scheduleReturn();
                }
            }
        }

        /**
         * Returns the sessions that have been idle for this time, one by one. Each counts as in use meanwhile, which keeps the number of
         * open connections within the limit.
         */
        private void returnIdleFor(long nanos) {
            boolean more = true;
            while (more && places.tryAcquire()) {
                try {
                    Session session = takeIdleFor(nanos);
                    Connection spare = session != null || keeps ? null : takeKept();
                    more = session != null;
                    if (session != null) {
                        returnToHost(session);
                    } else if (spare != null) {
                        spare.close();
                    }
                } catch (SQLException | RuntimeException failure) {
                    log.debug("A connection could not be returned to the pool", failure);
                } finally {
                    places.release();
                }
            }
        }

        private synchronized @Nullable Session takeIdleFor(long nanos) {
            Session longest = idle.peekLast();
            return longest == null || longest.idleNanos() < nanos ? null : idle.removeLast();
        }
    }
}
