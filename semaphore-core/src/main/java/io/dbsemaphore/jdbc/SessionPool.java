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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The few connections that the library uses at a time, independent of the number of threads. Preparing a connection
 * takes more round trips than a release, so a session that is used repeatedly is kept for some milliseconds; a session
 * that is used now and then is returned at once to the host's pool, which may have no other.
 */
final class SessionPool implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(SessionPool.class);

    private static final Duration KEPT_IDLE = Duration.ofMillis(20);
    /** Shorter than the leak detection of pools, and often enough for their checks of returned connections. */
    private static final Duration LONGEST_LOAN = Duration.ofSeconds(1);

    private static final int BUSY_AFTER = 3;

    private final HostConnections host;
    private final SessionLimits limits;
    private final Pipelining pipelining;
    private final String readOnlyQuery;
    private final Failover failover = new Failover();
    private final int size;
    private final Semaphore places;
    private final Deque<Idle> idle = new ArrayDeque<>();
    private final ScheduledThreadPoolExecutor evictor;
    private boolean evictionScheduled;
    private boolean closed;
    private int quickReturns;
    private long lastReturn = System.nanoTime() - KEPT_IDLE.toNanos();

    private record Idle(PreparedSession session, long since) {}

    SessionPool(HostConnections host, SessionLimits limits, Pipelining pipelining, String readOnlyQuery, int size) {
        this.host = host;
        this.limits = limits;
        this.pipelining = pipelining;
        this.readOnlyQuery = readOnlyQuery;
        this.size = size;
        this.places = new Semaphore(size, true);
        this.evictor = new DaemonThreads().scheduler("semaphore-connections");
        evictor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    Connection borrow() throws SQLException {
        awaitPlace();
        PreparedSession session = null;
        try {
            session = open();
            while (failover.isSuspected() && session.isReadOnly(readOnlyQuery)) {
                failover.evicted();
                session.evict();
                session = null;
                session = open();
            }
            session.begin();
            return SessionConnection.on(session, this::returned);
        } catch (SQLException | RuntimeException | Error failure) {
            giveBack(session);
            throw failure;
        }
    }

    private PreparedSession open() throws SQLException {
        PreparedSession kept = takeIdle();
        return kept == null ? PreparedSession.open(host.take(), limits, pipelining) : kept;
    }

    private void giveBack(@Nullable PreparedSession failed) throws SQLException {
        try {
            if (failed != null) {
                failed.rollback();
                failed.returnToPool();
            }
        } finally {
            places.release();
        }
    }

    void returned(PreparedSession session) throws SQLException {
        if (session.isReadOnly()) {
            failover.suspect();
        }
        try {
            if (!keep(session)) {
                session.returnToPool();
            }
        } finally {
            places.release();
        }
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

    private void awaitPlace() throws SQLException {
        // the work must be done although it is interrupted
        if (!Uninterruptibles.acquire(places, HostConnections.CONNECTION_TIMEOUT.toNanos())) {
            throw new SQLTransientConnectionException(
                    "All %d connections of the semaphores (semaphore.max-connections) were in use for %s"
                            .formatted(size, HostConnections.CONNECTION_TIMEOUT));
        }
    }

    private @Nullable PreparedSession takeIdle() {
        synchronized (idle) {
            boolean quick = System.nanoTime() - lastReturn < KEPT_IDLE.toNanos();
            quickReturns = quick ? Math.min(quickReturns + 1, BUSY_AFTER) : 0;
            Idle kept = idle.pollFirst();
            return kept == null ? null : kept.session();
        }
    }

    private boolean keep(PreparedSession session) {
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
                PreparedSession session = takeIdleSince(nanos);
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

    private @Nullable PreparedSession takeIdleSince(long nanos) {
        synchronized (idle) {
            Idle longest = idle.peekLast();
            if (longest == null || longest.since() - nanos > 0) {
                return null;
            }
            idle.removeLast();
            return longest.session();
        }
    }
}
