package io.dbsemaphore.engine.hold;

import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.persistence.KeepAliveTransaction;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the heartbeats, one at a time, and looks after what is kept alive when one came too late: what others took in
 * the lapse is lost, and the rest counts as held again.
 */
final class Heartbeat {

    private static final Logger log = LoggerFactory.getLogger(Heartbeat.class);

    private final KeepAliveTransaction renewals;
    private final InstanceLease lease;
    private final RenewalSchedule schedule;
    private final ReentrantLock beating = new ReentrantLock();

    Heartbeat(KeepAliveTransaction renewals, InstanceLease lease, RenewalSchedule schedule) {
        this.renewals = renewals;
        this.lease = lease;
        this.schedule = schedule;
    }

    /**
     * Sends a heartbeat if others may not believe that this JVM lives, so that a grant can be bound to this instance. A
     * heartbeat that is merely due is sent by the keep-alive thread.
     *
     * @return the lapses so far: what is acquired from now on can have been taken in later ones only
     */
    long ensureLease() {
        if (!lease.isLeaseValid()) {
            locked(this::beatIfDue);
        }
        return lease.epoch();
    }

    /** Sends a heartbeat if one is due, unless another thread is at it, which may take long. */
    void beatUnlessUnderWay() {
        if (!beating.tryLock()) {
            lease.postpone();
            return;
        }
        try {
            beatIfDue();
        } finally {
            beating.unlock();
        }
    }

    /**
     * Makes sure of a grant that has just been registered: the heartbeat may have lapsed since its acquire was tried.
     * What fails here is made up for by the next heartbeat; until then the grant does not count as held.
     */
    void settle(HeldGrant state) {
        if (state.isLeaseValid()) {
            return;
        }
        try {
            ensureLease();
            if (!state.isLeaseValid()) { // the heartbeat that ended the lapse did not know of it
                locked(() -> {
                    if (!lookAfter(lease.epoch())) {
                        lease.postpone();
                    }
                });
            }
        } catch (RuntimeException | Error failure) {
            log.debug("{} does not count as held before the next heartbeat", state.grant(), failure);
        }
    }

    /** Says goodbye: a heartbeat that is under way is waited for, and none is sent after it. */
    void deregister() {
        beating.lock();
        try {
            lease.deregister();
        } finally {
            beating.unlock();
        }
    }

    private void locked(Runnable work) {
        beating.lock();
        try {
            work.run();
        } finally {
            beating.unlock();
        }
    }

    private void beatIfDue() {
        if (lease.isDeregistered() || (lease.isLeaseValid() && !lease.isBeatDue())) {
            return;
        }
        Deadline validUntil = lease.beat();
        // asked after the answer, since the heartbeat itself may have come too late
        long epoch = lease.isLeaseValid() ? lease.epoch() : lease.epoch() + 1;
        boolean complete = lookAfter(epoch);
        lease.confirm(validUntil, epoch);
        if (!complete) {
            lease.postpone(); // to look after the rest soon
        }
    }

    /**
     * Ends what was taken in an earlier lapse, and binds the rest anew. What another transaction has locked, which may be
     * taking it, does not count as held before that has ended.
     *
     * @return whether nothing was locked
     */
    private boolean lookAfter(long epoch) {
        Map<Long, ScheduledRenewal> doubtful = new TreeMap<>();
        schedule.all(grant -> !grant.state().isBoundSince(epoch))
                .forEach(grant -> doubtful.put(grant.requestId(), grant));
        renewals.confirm(List.copyOf(doubtful.keySet()), outcome -> {
            outcome.held().forEach(requestId -> {
                ScheduledRenewal grant = doubtful.remove(requestId);
                if (grant != null) {
                    grant.state().bindTo(lease, epoch);
                }
            });
            outcome.lost().forEach(requestId -> {
                ScheduledRenewal grant = doubtful.remove(requestId);
                if (grant != null) {
                    schedule.lose(grant);
                }
            });
        });
        return doubtful.isEmpty();
    }
}
