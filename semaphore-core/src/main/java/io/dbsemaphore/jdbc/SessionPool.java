package io.dbsemaphore.jdbc;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.Uninterruptibles;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
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
 */
final class SessionPool implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(SessionPool.class);

    private static final Duration CONNECTION_TIMEOUT = Duration.ofSeconds(30);

    private static final Duration KEPT_IDLE = Duration.ofMillis(20);
    /** Shorter than the leak detection of pools, and often enough for their checks of returned connections. */
    private static final Duration LONGEST_LOAN = Duration.ofSeconds(1);

    private static final int BUSY_AFTER = 3;
    private static final Duration SUSPECTED_FOR = Duration.ofSeconds(10);
    private static final int MAX_EVICTIONS = 100;

    private final Host host;
    private final Database database;
    private final SessionLimits limits;
    private final Pipelining pipelining;
    private final int size;
    private final Semaphore places;
    private final Deque<Idle> idle = new ArrayDeque<>();
    private final ScheduledThreadPoolExecutor evictor;
    private boolean evictionScheduled;
    private boolean closed;
    private int quickReturns;
    private long lastReturn = System.nanoTime() - KEPT_IDLE.toNanos();
    private int evictionsLeft;
    private long suspectedUntil = System.nanoTime();

    private record Idle(Session session, long since) {}

    SessionPool(Host host, Database database, SessionLimits limits, Pipelining pipelining, int size) {
        this.host = host;
        this.database = database;
        this.limits = limits;
        this.pipelining = pipelining;
        this.size = size;
        this.places = new Semaphore(size, true);
        this.evictor = new DaemonThreads().scheduler("semaphore-connections");
        evictor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    /** Begins a transaction on a session, which returns to this pool when the connection is closed. */
    Connection borrow() throws SQLException {
        // the work must be done although it is interrupted
        if (!Uninterruptibles.acquire(places, CONNECTION_TIMEOUT.toNanos())) {
            throw new SQLTransientConnectionException(
                    "All %d connections of the semaphores (semaphore.max-connections) were in use for %s"
                            .formatted(size, CONNECTION_TIMEOUT));
        }
        Session session = null;
        try {
            session = open();
            while (isOfFormerPrimary(session)) {
                session.evict();
                session = null;
                session = open();
            }
            return session.begin(this::returned);
        } catch (SQLException | RuntimeException | Error failure) {
            try {
                if (session != null) {
                    session.rollback();
                    session.returnToPool();
                }
            } finally {
                places.release();
            }
            throw failure;
        }
    }

    private Session open() throws SQLException {
        Session kept = takeIdle();
        return kept == null ? Session.open(host.take(), limits, pipelining) : kept;
    }

    private void returned(Session session) throws SQLException {
        if (session.isReadOnly()) {
            suspectFailover();
        }
        try {
            if (!keep(session)) {
                session.returnToPool();
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

    /** Returns the idle sessions. Sessions in use are returned when they are closed. */
    @Override
    public void close() {
        synchronized (idle) {
            closed = true;
        }
        evictor.shutdown();
        returnIdleSince(System.nanoTime());
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

    private @Nullable Session takeIdle() {
        synchronized (idle) {
            boolean quick = System.nanoTime() - lastReturn < KEPT_IDLE.toNanos();
            quickReturns = quick ? Math.min(quickReturns + 1, BUSY_AFTER) : 0;
            Idle kept = idle.pollFirst();
            return kept == null ? null : kept.session();
        }
    }

    private boolean keep(Session session) {
        synchronized (idle) {
            lastReturn = System.nanoTime();
            if (closed
                    || quickReturns < BUSY_AFTER
                    || !session.isReusable()
                    || session.ageNanos() > LONGEST_LOAN.toNanos()) {
                return false;
            }
            if (!schedule()) {
                return false; // nothing would return it later
            }
            idle.addFirst(new Idle(session, lastReturn));
            return true;
        }
    }

    private boolean schedule() {
        if (!evictionScheduled) {
            try {
                ScheduledFuture<?> unused =
                        evictor.schedule(this::returnIdle, KEPT_IDLE.toMillis() + 1, TimeUnit.MILLISECONDS);
                evictionScheduled = true;
            } catch (RejectedExecutionException | Error impossible) { // closed meanwhile, or no thread can be created
                log.debug("Idle connections cannot be kept for the moment", impossible);
            }
        }
        return evictionScheduled;
    }

    private void returnIdle() {
        synchronized (idle) {
            evictionScheduled = false;
        }
        returnIdleSince(System.nanoTime() - KEPT_IDLE.toNanos());
        synchronized (idle) {
            if (!idle.isEmpty()) {
                schedule();
            }
        }
    }

    /**
     * Returns them one at a time, each counted as in use, so that the number of open connections stays within the
     * limit.
     */
    private void returnIdleSince(long nanos) {
        while (places.tryAcquire()) {
            try {
                Session session = takeIdleSince(nanos);
                if (session == null) {
                    return;
                }
                session.returnToPool();
            } catch (SQLException | RuntimeException | Error failure) {
                log.debug("A connection could not be returned to the pool", failure);
            } finally {
                places.release();
            }
        }
    }

    private @Nullable Session takeIdleSince(long nanos) {
        synchronized (idle) {
            Idle longest = idle.peekLast();
            if (longest == null || longest.since() - nanos > 0) {
                return null;
            }
            idle.removeLast();
            return longest.session();
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
            boolean interrupted = Thread.interrupted(); // a pool would fail at once although it has a connection
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
