package io.dbsemaphore.engine.hold;

import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.persistence.HoldTransactions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongPredicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lease of this instance, which heartbeats renew (Gray and Cheriton, <a
 * href="https://doi.org/10.1145/74850.74870">Leases: An Efficient Fault-Tolerant Mechanism for Distributed File Cache
 * Consistency</a>, 1989). While it is valid, no other instance reclaims the grants that this instance keeps alive. The first
 * such grant registers the instance. While there is none, no heartbeats are sent.
 *
 * <p>The lease lasts for two thirds of the configured timeout. The last third is a grace period, in which other instances wait
 * for another heartbeat of a suspect instance. Otherwise an outage of the database, after which all heartbeats are overdue, would
 * cost live instances their grants.
 *
 * <p>A heartbeat that was too late begins another epoch: grants may have been reclaimed after the lease had expired. They are
 * checked before the lease counts as valid again ({@link #ensure}, {@link #sendUnlessInProgress}), and each that is still held is
 * bound to the new epoch. One heartbeat is sent at a time.
 *
 * <p>A running process may be copied, for example with its virtual machine, and both copies have its id. Each heartbeat writes a random
 * nonce, higher than the one before. The copy that meets a nonce of the other takes a new id, and the grants stay with the other copy.
 */
public final class InstanceLease {

    /** The pause between two turns of the {@link KeepAlive}. Renewals and heartbeats are due earlier by this pause. */
    static final Duration PAUSE = Duration.ofMillis(100);

    private static final Logger log = LoggerFactory.getLogger(InstanceLease.class);

    private static final long NONCE_STEP = 1L << 32;

    private final HoldTransactions transactions;
    private final String owner;
    private final Duration overdueAfter;
    private final Duration interval;
    private final ReentrantLock sending = new ReentrantLock();
    private volatile long id = random(Long.MAX_VALUE);
    /** The first epoch of this id. */
    private volatile long firstEpoch;
    /** The nonce of the last heartbeat that was answered; {@link #sent} is that of the last one sent. */
    private long answered;

    private long sent;
    private volatile Term term = new Term(Deadline.in(Duration.ZERO), 0);
    private volatile Deadline nextHeartbeat = Deadline.in(Duration.ZERO);
    private volatile boolean registered;
    private volatile boolean deregistered;

    /** The expiry of the lease, and the epoch: how many times the lease has lapsed. */
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

    /** Returns a random number of at least 1, which does not repeat in a copy of this process. */
    private static long random(long bound) {
        return new SecureRandom().nextLong(1, bound);
    }

    /** Whether a grant of this epoch was acquired under a former id of this instance. */
    boolean isOfFormerId(long epoch) {
        return epoch < firstEpoch;
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
     * Sends a heartbeat if the lease is not valid, so that a grant can be bound to this instance. The keep-alive sends those that
     * are merely due.
     *
     * @param check checks the grants in this epoch; returns false if some could not be checked
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

    /** Makes the next heartbeat due soon, for example because not all grants could be checked. */
    void postpone() {
        nextHeartbeat = Deadline.in(interval.dividedBy(4));
    }

    /**
     * Ends the lease, and removes the registration, so that no other instance waits for a heartbeat. Waits for a heartbeat that is
     * being sent; none is sent afterwards.
     *
     * @param unbind unbinds the grants that outlive this instance; runs before the removal
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

    /** Returns whether a heartbeat was due. */
    private boolean sendIfDue(LongPredicate check) {
        if (deregistered || (isValid() && !nextHeartbeat.isPassed())) {
            return false;
        }
        postpone(); // unless all of this succeeds
        long asOf = System.nanoTime();
        registered = true; // even if the commit fails: its outcome may be unknown
        if (sent <= answered) {
            sent = answered + random(NONCE_STEP);
        }
        boolean alone = heartbeat();
        if (!alone) { // perhaps it has met the late commit of its own last heartbeat
            alone = heartbeat();
        }
        if (!alone) {
            replaceId();
            return sendIfDue(check);
        }
        answered = sent;
        // after the heartbeat, which may have been too late itself
        long epoch = isValid() ? epoch() : epoch() + 1;
        boolean complete = check.test(epoch);
        term = new Term(Deadline.after(asOf, overdueAfter), epoch);
        if (complete) {
            nextHeartbeat = Deadline.in(interval);
        }
        return true;
    }

    private boolean heartbeat() {
        return transactions.heartbeat(id, owner, overdueAfter, answered, sent);
    }

    private void replaceId() {
        firstEpoch = epoch() + 1;
        term = new Term(Deadline.in(Duration.ZERO), epoch());
        long former = id;
        id = random(Long.MAX_VALUE);
        answered = 0;
        sent = 0;
        log.warn(
                "Another process sends heartbeats as instance {}: one of the two is a copy of the other, such as a cloned"
                        + " virtual machine. The other process keeps the grants that were kept alive under this id; this"
                        + " process has lost them, and continues as instance {}",
                former,
                id);
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
