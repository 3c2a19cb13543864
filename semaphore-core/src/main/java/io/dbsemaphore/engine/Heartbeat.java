package io.dbsemaphore.engine;

import io.dbsemaphore.persistence.RenewTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the heartbeats, one at a time, and looks after what is kept alive when one came too late: what others took in
 * the lapse is lost, and the rest counts as held again.
 */
final class Heartbeat {

    private static final Logger log = LoggerFactory.getLogger(Heartbeat.class);

    private final RenewTransaction renewals;
    private final InstanceLease lease;
    private final KeptGrants kept;
    private final ReentrantLock beating = new ReentrantLock();

    Heartbeat(RenewTransaction renewals, InstanceLease lease, KeptGrants kept) {
        this.renewals = renewals;
        this.lease = lease;
        this.kept = kept;
    }

    /**
     * Sends a heartbeat if one is due, so that a grant can be bound to this instance.
     *
     * @return the lapses so far: what is acquired from now on can have been taken in later ones only
     */
    long ensureBelieved() {
        kept.tell(locked(this::beatIfDue));
        return lease.lapses();
    }

    /** Sends a heartbeat if one is due, unless another thread is at it, which may take long. */
    void beatUnlessUnderWay() {
        if (!beating.tryLock()) {
            lease.postpone();
            return;
        }
        List<KeptGrant> lost;
        try {
            lost = beatIfDue();
        } finally {
            beating.unlock();
        }
        kept.tell(lost);
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
                kept.tell(locked(() -> lookAfter(lease.lapses())));
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

    private List<KeptGrant> locked(Supplier<List<KeptGrant>> work) {
        beating.lock();
        try {
            return work.get();
        } finally {
            beating.unlock();
        }
    }

    private List<KeptGrant> beatIfDue() {
        if (lease.hasLeft() || (lease.isBelieved() && !lease.isBeatDue())) {
            return List.of();
        }
        Deadline believed = lease.beat();
        // asked after the answer, since the heartbeat itself may have come too late
        long lapses = lease.isBelieved() ? lease.lapses() : lease.lapses() + 1;
        List<KeptGrant> lost = lookAfter(lapses);
        lease.confirm(believed, lapses);
        return lost;
    }

    /** Ends what was taken in an earlier lapse, by a write that waits for whoever is taking, and binds the rest anew. */
    private List<KeptGrant> lookAfter(long lapses) {
        Map<Long, KeptGrant> doubtful = new TreeMap<>();
        kept.all(grant -> !grant.state().isBoundSince(lapses)).forEach(grant -> doubtful.put(grant.requestId(), grant));
        if (doubtful.isEmpty()) {
            return List.of();
        }
        Set<Long> taken = renewals.findLost(doubtful.keySet());
        List<KeptGrant> lost = new ArrayList<>();
        doubtful.forEach((requestId, grant) -> {
            if (!taken.contains(requestId)) {
                grant.state().bindTo(lease, lapses);
            } else if (kept.end(grant)) {
                lost.add(grant);
            }
        });
        return lost;
    }
}
