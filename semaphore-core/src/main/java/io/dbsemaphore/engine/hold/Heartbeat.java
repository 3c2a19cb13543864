package io.dbsemaphore.engine.hold;

import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.persistence.HoldTransactions;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the heartbeats, one at a time, which renew the lease of this instance. When a heartbeat was too late, it checks the
 * grants that are kept alive: those that were reclaimed after the lease had expired are lost, the others count as held again.
 * After each heartbeat, it looks for grants that an operator has released by force.
 */
final class Heartbeat {

    private static final Logger log = LoggerFactory.getLogger(Heartbeat.class);

    private final HoldTransactions renewals;
    private final InstanceLease lease;
    private final RenewalSchedule schedule;
    private final ReentrantLock sending = new ReentrantLock();

    Heartbeat(HoldTransactions renewals, InstanceLease lease, RenewalSchedule schedule) {
        this.renewals = renewals;
        this.lease = lease;
        this.schedule = schedule;
    }

    /**
     * Sends a heartbeat if the lease is not valid, so that a grant can be bound to this instance. A heartbeat that is merely due
     * is sent by the keep-alive thread.
     *
     * @return the lease epoch: a grant that is acquired from now on can only be reclaimed in a later one
     */
    long ensureLease() {
        if (!lease.isLeaseValid()) {
            locked(this::sendIfDue);
        }
        return lease.epoch();
    }

    /** Sends a heartbeat if one is due, unless another thread is sending one, which may take long. */
    void sendUnlessInProgress() {
        if (!sending.tryLock()) {
            lease.postpone();
            return;
        }
        try {
            if (sendIfDue()) {
                loseReleasedByForce();
            }
        } finally {
            sending.unlock();
        }
    }

    /**
     * Confirms a grant that was just registered: the lease may have expired during its acquire. If this fails, the next
     * heartbeat confirms the grant; until then it does not count as held.
     */
    void confirm(HeldGrant state) {
        if (state.isLeaseValid()) {
            return;
        }
        try {
            ensureLease();
            if (!state.isLeaseValid()) { // the heartbeat that renewed the lease did not check this grant
                locked(() -> {
                    if (!confirmGrants(lease.epoch())) {
                        lease.postpone();
                    }
                });
            }
        } catch (RuntimeException | Error failure) {
            log.debug("{} does not count as held before the next heartbeat", state.grant(), failure);
        }
    }

    /** Deregisters this instance. Waits for a heartbeat that is being sent; none is sent afterwards. */
    void deregister() {
        locked(lease::deregister);
    }

    private void locked(Runnable work) {
        sending.lock();
        try {
            work.run();
        } finally {
            sending.unlock();
        }
    }

    /** Returns whether one was due. */
    private boolean sendIfDue() {
        if (lease.isDeregistered() || (lease.isLeaseValid() && !lease.isHeartbeatDue())) {
            return false;
        }
        Deadline validUntil = lease.sendHeartbeat();
        // checked after the heartbeat, which may have been too late itself
        long epoch = lease.isLeaseValid() ? lease.epoch() : lease.epoch() + 1;
        boolean complete = confirmGrants(epoch);
        lease.confirm(validUntil, epoch);
        if (!complete) {
            lease.postpone(); // to check the others soon
        }
        return true;
    }

    /**
     * Ends the grants that an operator has released by force on another instance. Their holders would not learn of it before
     * their next renewal, which is far off if the TTL is long.
     */
    private void loseReleasedByForce() {
        Set<String> released = renewals.findReleasedByForce();
        if (!released.isEmpty()
                && !confirm(
                        lease.epoch(),
                        grant -> released.contains(grant.state().grant().externalId()))) {
            lease.postpone();
        }
    }

    /**
     * Ends the grants that were reclaimed after the lease had expired, and binds the others to the current epoch. A grant that
     * another transaction has locked, and may be reclaiming, does not count as held before that transaction has ended.
     *
     * @return whether no grant was locked
     */
    private boolean confirmGrants(long epoch) {
        return confirm(epoch, grant -> !grant.state().isBoundSince(epoch));
    }

    private boolean confirm(long epoch, Predicate<ScheduledRenewal> which) {
        Map<Long, ScheduledRenewal> unconfirmed = new TreeMap<>();
        schedule.all(which).forEach(grant -> unconfirmed.put(grant.requestId(), grant));
        renewals.confirm(
                List.copyOf(unconfirmed.keySet()),
                outcome -> schedule.settle(
                        unconfirmed, outcome, grant -> grant.state().bindTo(lease, epoch)));
        return unconfirmed.isEmpty();
    }
}
