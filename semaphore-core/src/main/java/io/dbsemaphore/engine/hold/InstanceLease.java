package io.dbsemaphore.engine.hold;

import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.persistence.HoldTransactions;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The lease of this instance, which heartbeats renew (Gray and Cheriton, <a
 * href="https://doi.org/10.1145/74850.74870">Leases: An Efficient Fault-Tolerant Mechanism for Distributed File Cache
 * Consistency</a>, 1989). While it is valid, no other instance reclaims the grants that this instance keeps alive. The instance
 * is registered when the first grant is to be kept alive; no heartbeats are sent while there is none.
 *
 * <p>The lease lasts for two thirds of the configured timeout. The last third is a grace period in which the other instances
 * wait for a further heartbeat of a suspect instance, so that an outage of the database, after which all heartbeats are overdue,
 * costs no instance its grants.
 */
public final class InstanceLease {

    private final HoldTransactions transactions;
    private final String owner;
    private final Duration overdueAfter;
    private final Duration interval;
    private final long id = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
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
        this.interval = timeout.dividedBy(6);
    }

    /** How long other instances wait for an overdue heartbeat. */
    public static Duration grace(Duration timeout) {
        return timeout.dividedBy(3);
    }

    public long id() {
        return id;
    }

    boolean isLeaseValid() {
        return !term.until().isPassed();
    }

    /** Whether the lease is valid and has not lapsed since this epoch. */
    boolean isLeaseValidSince(long epoch) {
        Term current = term;
        return current.epoch() == epoch && !current.until().isPassed();
    }

    long epoch() {
        return term.epoch();
    }

    boolean isHeartbeatDue() {
        return nextHeartbeat.isPassed();
    }

    long nanosToNextHeartbeat() {
        return nextHeartbeat.remainingNanos();
    }

    /**
     * Sends a heartbeat.
     *
     * @return the new lease expiry, for {@link #confirm}
     */
    Deadline sendHeartbeat() {
        long asOf = System.nanoTime();
        registered = true; // even if the commit fails: its outcome may be unknown
        transactions.heartbeat(id, owner, overdueAfter);
        return Deadline.after(asOf, overdueAfter);
    }

    /** Renews the lease, after the grants have been checked. */
    void confirm(Deadline deadline, long epoch) {
        term = new Term(deadline, epoch);
        nextHeartbeat = Deadline.in(interval);
    }

    /** Schedules the next heartbeat soon, since this one failed or was incomplete. */
    void postpone() {
        nextHeartbeat = deregistered ? Deadline.NEVER : Deadline.in(interval.dividedBy(4));
    }

    /** Ends the lease and removes the registration, so that no other instance waits for a heartbeat. None is sent afterwards. */
    void deregister() {
        deregistered = true;
        nextHeartbeat = Deadline.NEVER;
        term = new Term(Deadline.in(Duration.ZERO), term.epoch());
        if (registered) {
            transactions.deregister(id);
        }
    }

    boolean isDeregistered() {
        return deregistered;
    }
}
