package io.dbsemaphore.engine.hold;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.RecurringTask;
import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.jdbc.SemaphoreDataSource;
import io.dbsemaphore.persistence.KeepAliveTransaction;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps grants alive while their work runs: one thread for all of them. One transaction renews up to 500 grants that are due: it
 * locks their requests, without those that another transaction has locked, then updates them. A grant is due at a third of the time
 * to live, or a little earlier, so that many are due together. While the database is unavailable, it keeps trying; a grant whose
 * deadline passes meanwhile is lost.
 *
 * <p>Nothing else can block this thread: its connection is reserved, it does not wait for row locks of other transactions, and
 * listeners are notified on another thread.
 */
public final class KeepAlive implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(KeepAlive.class);

    /** Longer than an acquire takes, so that the thread that an acquire has started still runs when it is granted. */
    private static final Duration LINGER = Duration.ofMinutes(1);

    private final KeepAliveTransaction renewals;
    private final InstanceLease lease;
    private final RenewalSchedule schedule;
    private final LossNotifier losses;
    private final Heartbeat heartbeat;
    private final Duration longestInterval;
    private final RecurringTask task;
    private volatile Deadline lingering = Deadline.in(Duration.ZERO);

    public KeepAlive(
            SemaphoreDataSource connections,
            KeepAliveTransaction renewals,
            InstanceLease lease,
            GrantRegistry held,
            ListenerNotifier listeners,
            DaemonThreads threads,
            Duration longestInterval) {
        this.renewals = renewals;
        this.lease = lease;
        this.losses = new LossNotifier(listeners, threads);
        this.schedule = new RenewalSchedule(held, losses);
        this.heartbeat = new Heartbeat(renewals, lease, schedule);
        this.longestInterval = longestInterval;
        this.task = new RecurringTask(threads, "semaphore-keep-alive", connections::onReservedConnection, new Turn());
    }

    /**
     * Ensures that a grant can be kept alive, before it is granted: that the thread runs, and that the lease is valid.
     *
     * @return the lease epoch, see {@link Heartbeat#ensureLease}
     * @throws Error when the thread cannot be started
     */
    public long prepare() {
        linger();
        return heartbeat.ensureLease();
    }

    /** Whether {@link #prepare} would have to send no heartbeat. */
    public boolean isLeaseValid() {
        return lease.isLeaseValid();
    }

    /**
     * Keeps the grant alive until it ends, or the maximum hold has passed.
     *
     * @param handle the handle of its user, for listeners; null if nobody uses it
     */
    public void keep(HeldGrant state, Supplier<? extends @Nullable PermitGrant> handle, Duration maxHold) {
        boolean first = schedule.add(new ScheduledRenewal(state, handle, maxHold, longestInterval));
        linger();
        if (first) {
            task.wake();
        }
    }

    /** See {@link Heartbeat#confirm}. */
    public void confirm(HeldGrant state) {
        heartbeat.confirm(state);
    }

    /** See {@link Heartbeat#deregister}. */
    public void deregister() {
        heartbeat.deregister();
    }

    /** Ends a grant that its holder found to be lost, and stops keeping it alive. */
    public void lose(HeldGrant state, PermitGrant handle) {
        schedule.lose(state, handle);
    }

    /** Computes again when the grant is due, since its time to live has changed. */
    public void reconsider(long requestId) {
        if (schedule.reschedule(requestId)) {
            task.wake();
        }
    }

    /** Stops keeping the grant alive. To be called before its release is tried. */
    public void stop(long requestId) {
        schedule.remove(requestId);
    }

    @Override
    public void close() {
        task.close();
        losses.close();
    }

    private void linger() {
        lingering = Deadline.in(LINGER);
        task.ensureRunning();
    }

    /** One turn of the thread. */
    private final class Turn implements RecurringTask.Task {

        @Override
        public long nanosToNext() {
            if (schedule.isEmpty()) {
                return lingering.isPassed() ? RecurringTask.NOT_NEEDED : lingering.remainingNanos();
            }
            return Math.min(lease.nanosToNextHeartbeat(), schedule.nanosToNext());
        }

        @Override
        public void run() {
            survive("renewal", KeepAlive.this::renewDue, () -> {});
            survive("heartbeat", heartbeat::sendUnlessInProgress, lease::postpone);
            losses.reportRest();
        }
    }

    /** The failure of one task must not prevent the others. */
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

    /** Whether the grant is not renewed: it is lost, or its maximum hold has passed. */
    private boolean isOver(ScheduledRenewal grant) {
        if (grant.state().deadline().isPassed()) {
            schedule.lose(grant);
            return true;
        }
        if (grant.runOutAtMaxHold()) {
            schedule.reschedule(grant, false);
            log.warn(
                    "{} has been held for its maximum (semaphore.max-hold) and is no longer renewed: unless the work ends"
                            + " before, its permits become available to others when its TTL has passed",
                    grant.handle());
        }
        return grant.isRunningOut();
    }

    /** Renews grants, and removes them from the map, except those that another transaction has locked. */
    private void renew(Map<Long, ScheduledRenewal> due) {
        long asOf = System.nanoTime();
        renewals.renew(
                due.keySet(),
                outcome -> schedule.settle(due, outcome, grant -> {
                    grant.state().extend(asOf);
                    schedule.reschedule(grant, false);
                }));
    }
}
