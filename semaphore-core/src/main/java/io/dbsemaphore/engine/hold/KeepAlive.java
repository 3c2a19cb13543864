package io.dbsemaphore.engine.hold;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.UnexpectedErrors;
import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.jdbc.SemaphoreDataSource;
import io.dbsemaphore.persistence.KeepAliveTransaction;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps grants alive while their work runs: one thread for all of them. All that is due is renewed by one statement, at a
 * third of the time to live, or a little earlier, so that many are due together. While the database is away it goes on
 * trying; a grant whose deadline passes meanwhile is lost.
 *
 * <p>The thread shares nothing that others can hold up: its connection is reserved for it, it waits for no row that
 * somebody else has locked, and listeners are told on another thread.
 */
public final class KeepAlive implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(KeepAlive.class);

    /** Longer than an acquire is under way, so that a grant finds the thread running that its acquire has started. */
    private static final Duration LINGER = Duration.ofMinutes(1);

    private final SemaphoreDataSource connections;
    private final KeepAliveTransaction renewals;
    private final InstanceLease lease;
    private final DaemonThreads threads;
    private final RenewalSchedule schedule;
    private final LossNotifier losses;
    private final Heartbeat heartbeat;
    private final Duration longestInterval;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private Deadline lingering = Deadline.in(Duration.ZERO);
    private boolean running;
    private volatile boolean closed;

    public KeepAlive(
            SemaphoreDataSource connections,
            KeepAliveTransaction renewals,
            InstanceLease lease,
            GrantRegistry held,
            ListenerNotifier listeners,
            DaemonThreads threads,
            Duration longestInterval) {
        this.connections = connections;
        this.renewals = renewals;
        this.lease = lease;
        this.threads = threads;
        this.losses = new LossNotifier(listeners, threads);
        this.schedule = new RenewalSchedule(held, losses);
        this.heartbeat = new Heartbeat(renewals, lease, schedule);
        this.longestInterval = longestInterval;
    }

    /**
     * Makes sure that a grant can be kept alive, before it is granted: that the thread runs, and that others believe that
     * this JVM lives, see {@link Heartbeat#ensureLease}.
     *
     * @throws Error when the thread cannot be started, neither now nor later
     */
    public long prepare() {
        ensureRunning();
        return heartbeat.ensureLease();
    }

    /** Keeps the grant alive until it ends, or the maximum hold has passed. */
    public void keep(HeldGrant state, PermitGrant handle, Duration maxHold) {
        boolean first = schedule.add(new ScheduledRenewal(state, handle, maxHold, longestInterval));
        ensureRunning();
        if (first) {
            wake();
        }
    }

    /** See {@link Heartbeat#settle}. */
    public void settle(HeldGrant state) {
        heartbeat.settle(state);
    }

    /** See {@link Heartbeat#deregister}. */
    public void deregister() {
        heartbeat.deregister();
    }

    /** Ends a grant that its holder found to be lost, and stops to keep it alive. */
    public void lose(HeldGrant state, PermitGrant handle) {
        schedule.lose(state, handle);
    }

    /** Looks again when the grant is due: its time to live has changed. */
    public void reconsider(long requestId) {
        if (schedule.reschedule(requestId)) {
            wake();
        }
    }

    /** Stops to keep the grant alive; before its release is tried. */
    public void stop(long requestId) {
        schedule.remove(requestId);
    }

    @Override
    public void close() {
        closed = true;
        wake();
        losses.close();
    }

    private void ensureRunning() {
        lock.lock();
        try {
            lingering = Deadline.in(LINGER);
            if (!running && !closed) {
                threads.start("semaphore-keep-alive", () -> connections.onReservedConnection(this::run));
                running = true;
            }
        } finally {
            lock.unlock();
        }
    }

    private void wake() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** This thread must not end while there is something to keep. */
    private void run() {
        boolean goesOn = true;
        while (goesOn) {
            try {
                goesOn = awaitDue();
                if (goesOn) {
                    survive("renewal", this::renewDue, () -> {});
                    survive("heartbeat", heartbeat::beatUnlessUnderWay, lease::postpone);
                    losses.tellRest();
                }
            } catch (Throwable failure) {
                UnexpectedErrors.survive(log, "The keep-alive", failure);
            }
        }
    }

    /** One failure must not stand in the way of the rest. */
    private void survive(String what, Runnable task, Runnable onFailure) {
        try {
            task.run();
        } catch (RuntimeException | Error failure) {
            onFailure.run();
            log.debug("The {} of {} grant(s) failed and is tried again", what, schedule.size(), failure);
        }
    }

    private void renewDue() {
        Map<Long, ScheduledRenewal> due = new TreeMap<>();
        schedule.takeDue().forEach(grant -> due.put(grant.requestId(), grant));
        try {
            due.values().removeIf(this::isOver);
            if (!due.isEmpty()) {
                renew(due);
            }
        } finally {
            due.values().forEach(grant -> schedule.reschedule(grant, true));
        }
    }

    /** Whether it need not be renewed: it is lost, or its renewals end. */
    private boolean isOver(ScheduledRenewal grant) {
        if (grant.state().deadline().isPassed()) {
            schedule.lose(grant);
            return true;
        }
        if (grant.runOutAtMaxHold()) {
            schedule.reschedule(grant, false);
            log.warn(
                    "{} has been held for its maximum (semaphore.max-hold) and is not renewed any more: unless the work"
                            + " ends before, others get its permits when its TTL has passed",
                    grant.handle());
        }
        return grant.isRunningOut();
    }

    /** Renews them, and leaves those of which nothing is known, or which somebody else has locked. */
    private void renew(Map<Long, ScheduledRenewal> due) {
        long asOf = System.nanoTime();
        renewals.renew(due.keySet(), outcome -> {
            outcome.held().forEach(requestId -> {
                ScheduledRenewal grant = due.remove(requestId);
                if (grant != null) {
                    grant.state().extend(asOf);
                    schedule.reschedule(grant, false);
                }
            });
            outcome.lost().forEach(requestId -> {
                ScheduledRenewal grant = due.remove(requestId);
                if (grant != null) {
                    schedule.lose(grant);
                }
            });
        });
    }

    /** Waits until something is due; false when there is nothing left to do for this thread. */
    private boolean awaitDue() {
        lock.lock();
        try {
            while (!closed) {
                boolean idle = schedule.isEmpty();
                if (idle && lingering.isPassed()) {
                    break;
                }
                long nanos =
                        idle ? lingering.remainingNanos() : Math.min(lease.nanosToNextBeat(), schedule.nanosToNext());
                if (nanos <= 0) {
                    return true;
                }
                await(nanos);
            }
            running = false;
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** Waking early does no harm: the caller looks again what is due. */
    @SuppressWarnings("WaitNotInLoop")
    private void await(long nanos) {
        try {
            long unused = changed.awaitNanos(nanos);
        } catch (InterruptedException nobodyMayEndThisThread) {
            log.debug("The keep-alive thread goes on although it was interrupted", nobodyMayEndThisThread);
        }
    }
}
