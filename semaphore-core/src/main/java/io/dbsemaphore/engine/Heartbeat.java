package io.dbsemaphore.engine;

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
    private final KeptGrants kept;
    private final ReentrantLock beating = new ReentrantLock();

    Heartbeat(KeepAliveTransaction renewals, InstanceLease lease, KeptGrants kept) {
        this.renewals = renewals;
        this.lease = lease;
        this.kept = kept;
    }

    /**
     * Sends a heartbeat if others may not believe that this JVM lives, so that a grant can be bound to this instance. A
     * heartbeat that is merely due is sent by the keep-alive thread.
     *
     * @return the lapses so far: what is acquired from now on can have been taken in later ones only
     */
    long ensureBelieved() {
        if (!lease.isBelieved()) {
            locked(this::beatIfDue);
        }
        return lease.lapses();
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
    void settle(GrantState state) {
        if (state.isBelieved()) {
            return;
        }
        try {
            ensureBelieved();
            if (!state.isBelieved()) { // the heartbeat that ended the lapse did not know of it
                locked(() -> {
                    if (!lookAfter(lease.lapses())) {
                        lease.postpone();
                    }
                });
            }
        } catch (RuntimeException | Error failure) {
            log.debug("{} does not count as held before the next heartbeat", state.grant(), failure);
        }
    }

    /** Says goodbye: a heartbeat that is under way is waited for, and none is sent after it. */
    void leave() {
        beating.lock();
        try {
            lease.leave();
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
        if (lease.hasLeft() || (lease.isBelieved() && !lease.isBeatDue())) {
            return;
        }
        Deadline believed = lease.beat();
        // asked after the answer, since the heartbeat itself may have come too late
        long lapses = lease.isBelieved() ? lease.lapses() : lease.lapses() + 1;
        boolean complete = lookAfter(lapses);
        lease.confirm(believed, lapses);
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
    private boolean lookAfter(long lapses) {
        Map<Long, KeptGrant> doubtful = new TreeMap<>();
        kept.all(grant -> !grant.state().isBoundSince(lapses)).forEach(grant -> doubtful.put(grant.requestId(), grant));
        renewals.confirm(List.copyOf(doubtful.keySet()), outcome -> {
            outcome.held().forEach(requestId -> {
                KeptGrant grant = doubtful.remove(requestId);
                if (grant != null) {
                    grant.state().bindTo(lease, lapses);
                }
            });
            outcome.lost().forEach(requestId -> {
                KeptGrant grant = doubtful.remove(requestId);
                if (grant != null) {
                    kept.lose(grant);
                }
            });
        });
        return doubtful.isEmpty();
    }
}
