package io.dbsemaphore.engine.hold;

import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.persistence.InstanceTransactions;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The heartbeat by which other instances know that this JVM lives, and by which this JVM knows how long they will
 * believe it. Registered when the first grant is to be kept alive; silent while none is.
 *
 * <p>The configured timeout is divided: two thirds until a heartbeat is overdue, one third of grace in which those who
 * notice wait for the next, so that an outage of the database, after which all are overdue, costs nobody anything.
 */
public final class InstanceLease {

    private final InstanceTransactions transactions;
    private final String owner;
    private final Duration overdueAfter;
    private final Duration interval;
    private final long id = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
    private volatile Term term = new Term(Deadline.in(Duration.ZERO), 0);
    private volatile Deadline nextBeat = Deadline.in(Duration.ZERO);
    private volatile boolean registered;
    private volatile boolean deregistered;

    /** Until when others believe that this JVM lives, and how often they may have ceased to before. */
    private record Term(Deadline until, long epoch) {}

    public InstanceLease(InstanceTransactions transactions, String owner, Duration timeout) {
        this.transactions = transactions;
        this.owner = owner;
        this.overdueAfter = timeout.multipliedBy(2).dividedBy(3);
        this.interval = timeout.dividedBy(6);
    }

    /** How long others wait for a heartbeat that is overdue. */
    public static Duration grace(Duration timeout) {
        return timeout.dividedBy(3);
    }

    public long id() {
        return id;
    }

    /** Whether others believe that this JVM lives, for all it knows. */
    boolean isLeaseValid() {
        return !term.until().isPassed();
    }

    /** Whether they have believed it without a break since so many lapses. */
    boolean isLeaseValidSince(long epoch) {
        Term current = term;
        return current.epoch() == epoch && !current.until().isPassed();
    }

    /** How many lapses have ended, in which others may have believed this JVM dead. */
    long epoch() {
        return term.epoch();
    }

    boolean isBeatDue() {
        return nextBeat.isPassed();
    }

    long nanosToNextBeat() {
        return nextBeat.remainingNanos();
    }

    /**
     * Sends a heartbeat.
     *
     * @return until when it will be believed, for {@link #confirm}
     */
    Deadline beat() {
        long asOf = System.nanoTime();
        registered = true; // be it that the commit fails, and nobody knows
        transactions.heartbeat(id, owner, overdueAfter);
        return Deadline.after(asOf, overdueAfter);
    }

    /** Counts on the heartbeat, once what is held has been looked after. */
    void confirm(Deadline deadline, long epoch) {
        term = new Term(deadline, epoch);
        nextBeat = Deadline.in(interval);
    }

    /** The heartbeat failed; the next try is soon. */
    void postpone() {
        nextBeat = deregistered ? Deadline.NEVER : Deadline.in(interval.dividedBy(4));
    }

    /** Says goodbye, so that nobody waits for a heartbeat. There is none after it. */
    void deregister() {
        deregistered = true;
        nextBeat = Deadline.NEVER;
        term = new Term(Deadline.in(Duration.ZERO), term.epoch());
        if (registered) {
            transactions.remove(id);
        }
    }

    boolean isDeregistered() {
        return deregistered;
    }
}
