package io.dbsemaphore.jdbc;

import io.dbsemaphore.concurrent.Uninterruptibles;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The few connections that the library uses at a time, independent of the number of threads. Preparing a connection
 * takes more round trips than a release, so a session that is used repeatedly is kept for some milliseconds; a session
 * that is used now and then is returned at once to the host's pool, which may have no other.
 *
 * <p>After a failover the host's pool may still have sessions of the former primary, which is now read-only. After a
 * read-only session was found, each session is checked before use for some seconds, and read-only ones are evicted, so that
 * the host's pool opens new ones. The number of evictions is bounded: if the whole database is read-only, new sessions do
 * not help.
 *
 * <p>One connection can be {@linkplain #keepConnection kept}: it is taken from the host's pool once and not given back after each
 * transaction. Otherwise a host that uses its whole pool for a long time would block renewals and heartbeats, and lose its permits. After
 * some idle time the connection gets the settings of the host back, like a connection in its pool: the limits of the library would end
 * it. A connection that was idle is checked before it is used, since the server or a firewall may have ended it, and a dead one is
 * replaced.
 */
final class SessionPool {

    private static final Logger log = LoggerFactory.getLogger(SessionPool.class);

    private static final Duration CONNECTION_TIMEOUT = Duration.ofSeconds(30);

    /** Shorter than the leak detection of pools, and often enough for their checks of returned connections. */
    private static final Duration LONGEST_LOAN = Duration.ofSeconds(1);

    private static final int BUSY_AFTER = 3;
    private static final Duration SUSPECTED_FOR = Duration.ofSeconds(10);
    private static final int MAX_EVICTIONS = 100;

    /** A connection that was used this lately is not checked. */
    private static final long TRUSTED_NANOS = Duration.ofMillis(500).toNanos();

    private static final int CHECK_SECONDS = 2;

    private final Host host;
    private final Database database;
    private final SessionLimits limits;
    private final Pipelining pipelining;
    private final int size;
    private final Duration longestIdle;
    private final ScheduledExecutorService evictor;
    /** Permits to use a connection: one for each session that is in use or being returned. */
    private final Semaphore places;

    private final Deque<Idle<Session>> idle = new ArrayDeque<>();
    private boolean evictionScheduled;
    private boolean closed;
    private boolean keeps;
    private @Nullable Idle<Connection> kept;
    private int quickReturns;
    private long lastReturn;
    private int evictionsLeft;
    private long suspectedUntil = System.nanoTime();

    private record Idle<T>(T what, long since) {}

    /**
     * Creates a pool without sessions.
     *
     * @param longestIdle how long a session may be idle between transactions before it gets the settings of the host again
     */
    SessionPool(
            Host host,
            Database database,
            SessionLimits limits,
            Pipelining pipelining,
            int size,
            Duration longestIdle,
            ScheduledExecutorService evictor) {
        this.host = host;
        this.database = database;
        this.limits = limits;
        this.pipelining = pipelining;
        this.size = size;
        this.longestIdle = longestIdle;
        this.lastReturn = System.nanoTime() - longestIdle.toNanos();
        this.evictor = evictor;
        this.places = new Semaphore(size, true);
    }

    /** Begins a transaction on a session, which must be {@linkplain #end returned}. */
    Session begin() throws SQLException {
        if (!Uninterruptibles.acquire(places, CONNECTION_TIMEOUT.toNanos())) {
            throw new SQLTransientConnectionException(
                    "All %d connections of the semaphores (semaphore.max-connections) were in use for %s"
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
        Idle<Session> last = takeIdle();
        if (last != null && System.nanoTime() - last.since() > TRUSTED_NANOS) { // this process was suspended
            last.what().evict();
            last = null;
        }
        return last == null ? Session.open(takeConnection(), limits, pipelining) : last.what();
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

    private void suspectFailover() {
        synchronized (idle) {
            if (System.nanoTime() - suspectedUntil >= 0) {
                suspectedUntil = System.nanoTime() + SUSPECTED_FOR.toNanos();
                evictionsLeft = MAX_EVICTIONS;
            }
        }
    }

    private boolean isOfFormerPrimary(Session session) throws SQLException {
        synchronized (idle) {
            if (evictionsLeft == 0 || System.nanoTime() - suspectedUntil >= 0) {
                return false;
            }
        }
        if (!session.isReadOnly(database.readOnlyQuery())) {
            return false;
        }
        synchronized (idle) {
            evictionsLeft--;
        }
        return true;
    }

    /** Returns the idle connections. Those in use are returned after their transactions. */
    void close() {
        synchronized (idle) {
            closed = true;
            keeps = false;
        }
        returnIdleSince(System.nanoTime());
    }

    /** Allows sessions to be kept between transactions again. */
    void resume() {
        synchronized (idle) {
            closed = false;
        }
    }

    /** Waits until no session is in use, for a limited time. An interrupt ends the wait. */
    void awaitReturns(Duration longest) {
        try {
            if (places.tryAcquire(size, longest.toMillis(), TimeUnit.MILLISECONDS)) {
                places.release(size);
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

    /** Sets whether one connection is kept, and takes or returns it, unless it is in use. */
    void keepConnection(boolean keep) throws SQLException {
        boolean wanted;
        synchronized (idle) {
            keeps = keep && !closed;
            wanted = keeps && idle.isEmpty(); // a session that is still prepared has the connection
        }
        if (places.tryAcquire()) {
            try {
                Idle<Connection> spare = takeKept();
                if (spare != null || wanted) {
                    giveBack(spare == null ? host.take() : spare.what());
                }
            } finally {
                places.release();
            }
        }
    }

    private @Nullable Idle<Connection> takeKept() {
        synchronized (idle) {
            Idle<Connection> taken = kept;
            kept = null;
            return taken;
        }
    }

    private Connection takeConnection() throws SQLException {
        Idle<Connection> spare = takeKept();
        if (spare == null) {
            return host.take();
        }
        if (System.nanoTime() - spare.since() < TRUSTED_NANOS || isAlive(spare.what())) {
            return spare.what();
        }
        Session.evict(spare.what());
        return host.take();
    }

    private static boolean isAlive(Connection connection) {
        try {
            boolean alive = connection.isValid(CHECK_SECONDS);
            if (alive && !connection.getAutoCommit()) {
                connection.rollback(); // the check may have begun a transaction
            }
            return alive;
        } catch (SQLException dead) {
            log.debug("The connection of the keep-alive was ended, and is replaced", dead);
            return false;
        }
    }

    private void returnToHost(Session session) throws SQLException {
        Connection restored = session.restore();
        if (restored != null) {
            giveBack(restored);
        }
    }

    private void giveBack(Connection connection) throws SQLException {
        synchronized (idle) {
            if (keeps && kept == null) {
                kept = new Idle<>(connection, System.nanoTime());
                return;
            }
        }
        connection.close();
    }

    private @Nullable Idle<Session> takeIdle() {
        synchronized (idle) {
            boolean quick = System.nanoTime() - lastReturn < longestIdle.toNanos();
            quickReturns = quick ? Math.min(quickReturns + 1, BUSY_AFTER) : 0;
            return idle.pollFirst();
        }
    }

    /** Whether the session stays idle here, for the next transaction. */
    private boolean retain(Session session) {
        synchronized (idle) {
            lastReturn = System.nanoTime();
            if (closed
                    || quickReturns < BUSY_AFTER
                    || !session.isReusable()
                    || (!keeps && session.ageNanos() > LONGEST_LOAN.toNanos())) {
                return false;
            }
            idle.addFirst(new Idle<>(session, lastReturn));
            scheduleEviction();
            return true;
        }
    }

    private void scheduleEviction() {
        if (!evictionScheduled && !idle.isEmpty()) {
            ScheduledFuture<?> unused =
                    evictor.schedule(this::evictIdle, longestIdle.toMillis() + 1, TimeUnit.MILLISECONDS);
            evictionScheduled = true;
        }
    }

    private void evictIdle() {
        synchronized (idle) {
            evictionScheduled = false;
        }
        returnIdleSince(System.nanoTime() - longestIdle.toNanos());
        synchronized (idle) {
            scheduleEviction();
        }
    }

    /**
     * Returns them one at a time, each counted as in use, so that the number of open connections stays within the
     * limit.
     */
    private void returnIdleSince(long nanos) {
        boolean more = true;
        while (more && places.tryAcquire()) {
            try {
                Session session = takeIdleSince(nanos);
                Idle<Connection> spare = session != null || keeps ? null : takeKept();
                more = session != null;
                if (session != null) {
                    returnToHost(session);
                } else if (spare != null) {
                    spare.what().close();
                }
            } catch (SQLException | RuntimeException failure) {
                log.debug("A connection could not be returned to the pool", failure);
            } finally {
                places.release();
            }
        }
    }

    private @Nullable Session takeIdleSince(long nanos) {
        synchronized (idle) {
            Idle<Session> longest = idle.peekLast();
            if (longest == null || longest.since() - nanos > 0) {
                return null;
            }
            idle.removeLast();
            return longest.what();
        }
    }

    /** The host's pool, and how long it has had no connection. */
    static final class Host {

        private final DataSource pool;
        private final AtomicInteger waiting = new AtomicInteger();
        private volatile long lastChange;

        Host(DataSource pool) {
            this.pool = pool;
        }

        /** Returns a connection. How long the pool waits for one depends on its own configuration. */
        Connection take() throws SQLException {
            boolean interrupted =
                    Thread.interrupted(); // left by code of the application, and a pool would fail at once
            if (waiting.get() == 0) {
                lastChange = System.nanoTime(); // before it counts as waiting: the last change may be long ago
            }
            waiting.incrementAndGet();
            try {
                return pool.getConnection();
            } finally {
                lastChange = System.nanoTime();
                waiting.decrementAndGet();
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }

        /** Whether threads have waited for a connection for this long, and none of them has got one. */
        boolean isExhaustedFor(Duration time) {
            return waiting.get() > 0 && System.nanoTime() - lastChange > time.toNanos();
        }
    }
}
