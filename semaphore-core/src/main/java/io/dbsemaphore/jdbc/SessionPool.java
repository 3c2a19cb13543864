package io.dbsemaphore.jdbc;

import io.dbsemaphore.concurrent.DaemonThreads;
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
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The few connections that the library uses at once, whatever the number of threads. To prepare one costs more round
 * trips than a release has, so a session that is wanted again and again is kept for some milliseconds after use; one
 * that is wanted now and then goes back to the host's pool at once, which may have no other.
 */
final class SessionPool implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(SessionPool.class);

    private static final Duration KEPT_IDLE = Duration.ofMillis(20);
    /** Below what pools take for a leak, and often enough for what they do with connections that come back. */
    private static final Duration LONGEST_LOAN = Duration.ofSeconds(1);

    private static final int BUSY_AFTER = 3;

    private final HostConnections host;
    private final SessionLimits limits;
    private final Pipelining pipelining;
    private final String readOnlyQuery;
    private final Failover failover = new Failover();
    private final int size;
    private final Duration patience;
    private final Semaphore places;
    private final Deque<Idle> idle = new ArrayDeque<>();
    private final ScheduledThreadPoolExecutor keeper;
    private boolean keeperScheduled;
    private boolean closed;
    private int quickReturns;
    private long lastReturn = System.nanoTime() - KEPT_IDLE.toNanos();

    private record Idle(PreparedSession session, long since) {}

    /**
     * Makes a pool.
     *
     * @param readOnlyQuery asks a session whether its server refuses writes
     * @param size how many connections may be out at once
     * @param patience how long to wait for one of them
     */
    SessionPool(
            DataSource host,
            SessionLimits limits,
            Pipelining pipelining,
            String readOnlyQuery,
            int size,
            Duration patience) {
        this.host = new HostConnections(host, patience);
        this.limits = limits;
        this.pipelining = pipelining;
        this.readOnlyQuery = readOnlyQuery;
        this.size = size;
        this.patience = patience;
        this.places = new Semaphore(size, true);
        this.keeper = new ScheduledThreadPoolExecutor(1, new DaemonThreads().named("semaphore-connections"));
        keeper.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    Connection borrow() throws SQLException {
        awaitPlace();
        PreparedSession session = null;
        try {
            session = open();
            while (failover.isSuspected() && session.isReadOnly(readOnlyQuery)) {
                failover.giveUp();
                session.giveUp();
                session = null;
                session = open();
            }
            session.begin();
            return SessionConnection.on(session, this);
        } catch (SQLException | RuntimeException | Error failure) {
            try {
                if (session != null) {
                    session.rollback();
                    session.giveBack();
                }
            } finally {
                places.release();
            }
            throw failure;
        }
    }

    private PreparedSession open() throws SQLException {
        PreparedSession kept = takeIdle();
        return kept != null ? kept : PreparedSession.open(host.take(), limits, pipelining);
    }

    void takeBack(PreparedSession session) throws SQLException {
        if (session.isReadOnly()) {
            failover.suspect();
        }
        try {
            if (!keep(session)) {
                session.giveBack();
            }
        } finally {
            places.release();
        }
    }

    /** Gives back what is kept. Sessions that are out are given back as soon as they are closed. */
    @Override
    public void close() {
        synchronized (idle) {
            closed = true;
        }
        keeper.shutdown();
        giveBackIdleSince(System.nanoTime());
    }

    /** Waits until no session is out, for so long at most. An interrupt ends the wait, too. */
    void awaitReturns(Duration longest) {
        try {
            if (places.tryAcquire(size, longest.toMillis(), TimeUnit.MILLISECONDS)) {
                places.release(size);
            } else {
                log.warn(
                        "{} connection(s) of the semaphores were still in use after {}: they go back when their"
                                + " transactions end",
                        size - places.availablePermits(),
                        longest);
            }
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }

    private void awaitPlace() throws SQLException {
        if (!tryAcquirePlace()) {
            throw new SQLTransientConnectionException(
                    "All %d connections of the semaphores (semaphore.max-connections) were in use for %s"
                            .formatted(size, patience));
        }
    }

    /** An interrupt does not end the wait, since what the connection is wanted for is to be done all the same. */
    private boolean tryAcquirePlace() {
        boolean interrupted = false;
        long until = System.nanoTime() + patience.toNanos();
        try {
            while (true) {
                try {
                    return places.tryAcquire(until - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException later) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
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
                return false; // nobody would give it back
            }
            idle.addFirst(new Idle(session, lastReturn));
            return true;
        }
    }

    private boolean schedule() {
        if (!keeperScheduled) {
            try {
                ScheduledFuture<?> unused =
                        keeper.schedule(this::look, KEPT_IDLE.toMillis() + 1, TimeUnit.MILLISECONDS);
                keeperScheduled = true;
            } catch (RejectedExecutionException | Error impossible) { // closed meanwhile, or there is no thread for it
                log.debug("Idle connections are not looked after for the moment", impossible);
            }
        }
        return keeperScheduled;
    }

    private void look() {
        synchronized (idle) {
            keeperScheduled = false;
        }
        giveBackIdleSince(System.nanoTime() - KEPT_IDLE.toNanos());
        synchronized (idle) {
            if (!idle.isEmpty()) {
                schedule();
            }
        }
    }

    /** One after the other, each counted among those that are out, so that never more than allowed are open. */
    private void giveBackIdleSince(long nanos) {
        while (places.tryAcquire()) {
            try {
                PreparedSession session = takeIdleSince(nanos);
                if (session == null) {
                    return;
                }
                session.giveBack();
            } catch (SQLException | RuntimeException | Error failure) {
                log.debug("A connection could not be given back", failure);
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
