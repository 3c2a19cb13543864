package io.dbsemaphore.engine.hold;

import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.persistence.HoldTransactions;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongPredicate;

/**
 * The lease of this instance, which heartbeats renew (Gray and Cheriton, <a
 * href="https://doi.org/10.1145/74850.74870">Leases: An Efficient Fault-Tolerant Mechanism for Distributed File Cache
 * Consistency</a>, 1989). While it is valid, no other instance reclaims the grants that this instance keeps alive. The instance
 * is registered when the first grant is to be kept alive; no heartbeats are sent while there is none.
 *
 * <p>The lease lasts for two thirds of the configured timeout. The last third is a grace period in which the other instances
 * wait for a further heartbeat of a suspect instance, so that an outage of the database, after which all heartbeats are overdue,
 * costs no instance its grants.
 *
 * <p>A heartbeat that was too late begins another epoch: grants may have been reclaimed after the lease had expired. Before the
 * lease counts as valid again, the kept-alive grants are therefore checked ({@link #ensure}, {@link #sendUnlessInProgress}), and
 * each that is still held is bound to the new epoch. One heartbeat is sent at a time.
 */
public final class InstanceLease {

    /** The pause between two turns of the {@link KeepAlive}. What must not be late is due by so much earlier. */
    static final Duration PAUSE = Duration.ofMillis(100);

    private final HoldTransactions transactions;
    private final String owner;
    private final Duration overdueAfter;
    private final Duration interval;
    private final long id = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
    private final ReentrantLock sending = new ReentrantLock();
    private volatile Term term = new Term(Deadline.in(Duration.ZERO), 0);
    private volatile Deadline nextHeartbeat = Deadline.in(Duration.ZERO);
    private volatile boolean registered;
    private volatile boolean deregistered;

    /** Lease expiry, and the epoch: how many times the lease has lapsed. */
    private record Term(Deadline until, long epoch) {}

    public InstanceLease(HoldTransactions transactions, String owner, Duration timeout) {
        this.transactions = transactions;
        this.owner = owner;
        this.overdueAfter = timeout.multipliedBy(2).dividedBy(3);
        this.interval = timeout.dividedBy(6).minus(PAUSE);
    }

    /** How long other instances wait for an overdue heartbeat. */
    public static Duration grace(Duration timeout) {
        return timeout.dividedBy(3);
    }

    public long id() {
        return id;
    }

    /** Whether the lease is valid and has not lapsed since this epoch. */
    boolean isValidSince(long epoch) {
        Term current = term;
        return current.epoch() == epoch && !current.until().isPassed();
    }

    private boolean isValid() {
        return !term.until().isPassed();
    }

    long epoch() {
        return term.epoch();
    }

    /**
     * Sends a heartbeat if the lease is not valid, so that a grant can be bound to this instance. A heartbeat that is merely due
     * is sent by the keep-alive.
     *
     * @param check checks the grants in this epoch; false if some could not be checked
     * @return the epoch: a grant that is acquired from now on can only be reclaimed in a later one
     */
    long ensure(LongPredicate check) {
        if (!isValid()) {
            locked(() -> sendIfDue(check));
        }
        return epoch();
    }

    /**
     * Sends a heartbeat if one is due, unless another thread is sending one, which may take long.
     *
     * @param check as for {@link #ensure}
     * @return whether it was sent
     */
    boolean sendUnlessInProgress(LongPredicate check) {
        if (!sending.tryLock()) {
            return false;
        }
        try {
            return sendIfDue(check);
        } finally {
            sending.unlock();
        }
    }

    /** Checks grants in the current epoch, while no heartbeat is sent. */
    void checkNow(LongPredicate check) {
        locked(() -> {
            if (!check.test(epoch())) {
                postpone();
            }
        });
    }

    /** Has the next heartbeat sent soon, as when it could not check all grants. */
    void postpone() {
        nextHeartbeat = Deadline.in(interval.dividedBy(4));
    }

    /**
     * Ends the lease and removes the registration, so that no other instance waits for a heartbeat. Waits for a heartbeat that is
     * being sent; none is sent afterwards.
     *
     * @param unbind leaves the grants that are to outlive this instance to their time to live; runs before the removal
     */
    void deregister(Runnable unbind) {
        locked(() -> {
            deregistered = true;
            term = new Term(Deadline.in(Duration.ZERO), term.epoch());
            unbind.run();
            if (registered) {
                transactions.deregister(id);
            }
        });
    }

    /** Returns whether one was due. */
    private boolean sendIfDue(LongPredicate check) {
        if (deregistered || (isValid() && !nextHeartbeat.isPassed())) {
            return false;
        }
        postpone(); // unless all of this succeeds
        long asOf = System.nanoTime();
        registered = true; // even if the commit fails: its outcome may be unknown
        transactions.heartbeat(id, owner, overdueAfter);
        // checked after the heartbeat, which may have been too late itself
        long epoch = isValid() ? epoch() : epoch() + 1;
        boolean complete = check.test(epoch);
        term = new Term(Deadline.after(asOf, overdueAfter), epoch);
        if (complete) {
            nextHeartbeat = Deadline.in(interval);
        }
        return true;
    }

    private void locked(Runnable work) {
        sending.lock();
        try {
            work.run();
        } finally {
            sending.unlock();
        }
    }
}
