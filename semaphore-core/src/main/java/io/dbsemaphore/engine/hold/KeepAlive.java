package io.dbsemaphore.engine.hold;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.RecurringTask;
import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.jdbc.SemaphoreDataSource;
import io.dbsemaphore.persistence.HoldTransactions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
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

    private final HoldTransactions renewals;
    private final InstanceLease lease;
    private final RenewalSchedule schedule;
    private final LossNotifier losses;
    private final Heartbeat heartbeat;
    private final Duration longestInterval;
    private final Duration leakThreshold;
    private final RecurringTask task;
    private volatile Deadline lingering = Deadline.in(Duration.ZERO);

    public KeepAlive(
            SemaphoreDataSource connections,
            HoldTransactions renewals,
            InstanceLease lease,
            GrantRegistry held,
            ListenerNotifier listeners,
            DaemonThreads threads,
            Duration longestInterval,
            Duration leakThreshold) {
        this.renewals = renewals;
        this.lease = lease;
        this.losses = new LossNotifier(listeners, threads);
        this.schedule = new RenewalSchedule(held, losses);
        this.heartbeat = new Heartbeat(renewals, lease, schedule);
        this.longestInterval = longestInterval;
        this.leakThreshold = leakThreshold;
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

    /**
     * Keeps the grant alive until it ends, or the maximum hold has passed.
     *
     * @param handle the handle of its user, for listeners; null if nobody uses it
     */
    public void keep(HeldGrant state, Supplier<? extends @Nullable PermitGrant> handle, Deadline maxHold) {
        boolean first = schedule.add(new ScheduledRenewal(state, handle, maxHold, longestInterval, leakOf(state)));
        linger();
        if (first) {
            task.wake();
        }
    }

    /** Watches a grant that is not kept alive, unless an earlier acquire of it has it kept alive: its expiry is reported. */
    public void watch(HeldGrant state, PermitGrant handle) {
        if (state.grant().ttl() == null) {
            reconsider(state.grant().requestId());
            return;
        }
        boolean first = schedule.addOrReschedule(
                new ScheduledRenewal(state, () -> handle, null, longestInterval, leakOf(state)));
        linger();
        if (first) {
            task.wakeWithin(schedule.nanosToNext());
        }
    }

    private Deadline leakOf(HeldGrant state) {
        return state.acquiredAt() == null ? Deadline.NEVER : Deadline.in(leakThreshold);
    }

    /**
     * Reports a grant that its release has found gone, unless another process had released it in time.
     *
     * @param handle of its user
     */
    public void reportGone(HeldGrant state, PermitGrant handle) {
        HoldTransactions.Ended ended = renewals.findEnded(List.of(state.grant().requestId()));
        if (!ended.releasedInTime().contains(state.grant().requestId())) {
            losses.report(new LossNotifier.Loss(handle, null, false));
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

    /**
     * Stops keeping the grant alive, and watching it. To be called before its release is tried.
     *
     * @return the handle of its user; null if nobody uses it, or it was not scheduled
     */
    public @Nullable PermitGrant stop(long requestId) {
        ScheduledRenewal stopped = schedule.remove(requestId);
        if (stopped != null && stopped.hasLeaked()) {
            log.info(
                    "Grant {}, which was reported as a possible leak, is released after {}",
                    stopped.state().grant().externalId(),
                    stopped.state().heldFor());
        }
        return stopped == null ? null : stopped.handle();
    }

    @Override
    public void close() {
        task.close();
        losses.close();
    }

    private void linger() {
        if (lingering.remainingNanos() < LINGER.toNanos() / 2) { // otherwise it runs
            lingering = Deadline.in(LINGER);
            task.ensureRunning();
        }
    }

    /** One turn of the thread. */
    private final class Turn implements RecurringTask.Task {

        @Override
        public long nanosToNext() {
            if (schedule.isEmpty()) {
                return lingering.isPassed() ? RecurringTask.NOT_NEEDED : lingering.remainingNanos();
            }
            return schedule.needsHeartbeats()
                    ? Math.min(lease.nanosToNextHeartbeat(), schedule.nanosToNext())
                    : schedule.nanosToNext();
        }

        @Override
        public void run() {
            survive("renewal", KeepAlive.this::renewDue, () -> {});
            if (schedule.needsHeartbeats()) {
                survive("heartbeat", heartbeat::sendUnlessInProgress, lease::postpone);
            }
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
            due.values().forEach(this::reportLeak);
            Map<Long, ScheduledRenewal> expired = new TreeMap<>();
            due.values().stream()
                    .filter(ScheduledRenewal::isExpired)
                    .forEach(grant -> expired.put(grant.requestId(), grant));
            settleExpired(expired, due);
            due.values().removeIf(this::isNotDue);
            if (!due.isEmpty()) {
                renew(due);
            }
        } finally {
            due.values().forEach(grant -> schedule.reschedule(grant, true));
        }
    }

    private void reportLeak(ScheduledRenewal grant) {
        Throwable acquiredAt = grant.state().acquiredAt();
        if (grant.leaksNow() && acquiredAt != null) {
            log.warn(
                    "{} has been held for {} ms, longer than semaphore.leak-detection-threshold: its holder may have forgotten to"
                            + " release it. It was acquired here:",
                    grant.handle(),
                    grant.state().heldFor().toMillis(),
                    acquiredAt);
        }
    }

    /** Reports those that have expired, and removes them from what is due. */
    private void settleExpired(Map<Long, ScheduledRenewal> expired, Map<Long, ScheduledRenewal> due) {
        List<Long> watched = new ArrayList<>();
        expired.forEach((requestId, grant) -> {
            if (!grant.isKeptAlive()) {
                watched.add(requestId);
            } else {
                due.remove(requestId);
                if (grant.isLastTerm()) {
                    schedule.expire(grant);
                } else {
                    schedule.lose(grant);
                }
            }
        });
        if (!watched.isEmpty()) {
            settleWatched(watched, due);
        }
    }

    /** Another process may have renewed or released the grant, by its external id. */
    private void settleWatched(List<Long> watched, Map<Long, ScheduledRenewal> due) {
        long asOf = System.nanoTime();
        HoldTransactions.Ended ended = renewals.findEnded(watched);
        watched.forEach(requestId -> {
            ScheduledRenewal grant = due.remove(requestId);
            Deadline renewed = ended.alive().containsKey(requestId)
                    ? Deadline.after(asOf, ended.alive().get(requestId))
                    : null;
            if (grant == null) {
                return;
            }
            if (renewed != null) {
                grant.state().extend(renewed);
                schedule.reschedule(grant, false);
            } else if (ended.releasedInTime().contains(requestId)) {
                schedule.endQuietly(grant);
            } else {
                schedule.expire(grant);
            }
        });
    }

    /** Whether the grant is not to be renewed now. It is scheduled again. */
    private boolean isNotDue(ScheduledRenewal grant) {
        if (grant.isToBeRenewed()) {
            return false;
        }
        schedule.reschedule(grant, false);
        return true;
    }

    /**
     * Renews grants, and removes them from the map, except those that another transaction has locked. A renewal never reaches
     * beyond the maximum hold.
     */
    private void renew(Map<Long, ScheduledRenewal> due) {
        long asOf = System.nanoTime();
        Map<Long, Deadline> until = new HashMap<>();
        Set<Long> whole = new TreeSet<>();
        SortedMap<Long, Duration> limited = new TreeMap<>();
        due.forEach((requestId, grant) -> {
            Deadline end = grant.renewedUntil(asOf);
            until.put(requestId, end);
            Duration ttl = grant.state().grant().ttl();
            Duration rest = Duration.ofNanos(end.remainingNanos(asOf));
            if (ttl == null || end.never() || rest.compareTo(ttl) >= 0) {
                whole.add(requestId);
            } else {
                limited.put(requestId, rest);
            }
        });
        Consumer<HoldTransactions.Outcome> settle = outcome -> schedule.settle(due, outcome, grant -> {
            grant.state()
                    .extend(until.getOrDefault(grant.requestId(), grant.state().deadline()));
            schedule.reschedule(grant, false);
        });
        renewals.renew(whole, settle);
        renewals.renewUntil(limited, settle);
    }
}
