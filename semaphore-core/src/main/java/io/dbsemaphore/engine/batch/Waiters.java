package io.dbsemaphore.engine.batch;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.PolledAvailability;
import io.dbsemaphore.domain.RemainingAvailability;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The callers of this JVM that wait for permits of one semaphore, and what the database last said about that semaphore.
 * Guarded by the lock of the {@link GrantQueue}.
 */
final class Waiters {

    /** For so long after an answer of the database, another caller that asks would probably get the same answer. */
    private static final long RECENT = Duration.ofMillis(100).toNanos();

    private final WaitQueue waiting = new WaitQueue();
    private final QueueClock clock;
    private PermitShortage latest;
    private long latestAsOf;
    private long answeredAt;
    private long free;
    private long freeAtMost = Long.MAX_VALUE;
    private long changedAt;

    /**
     * Creates it without callers.
     *
     * @param latest the numbers with which the first caller was refused
     * @param asOf this JVM's clock before the database was asked for them
     */
    Waiters(PermitShortage latest, long asOf, QueueClock clock) {
        this.latest = latest;
        this.latestAsOf = asOf;
        this.answeredAt = asOf;
        this.clock = clock;
        this.changedAt = clock.now();
    }

    /** Who waits. */
    WaitQueue waiting() {
        return waiting;
    }

    @Nullable QueuedAcquire first() {
        return waiting.first();
    }

    boolean isFirst(QueuedAcquire pending) {
        return pending.equals(first());
    }

    /** A caller waits that the database has refused. */
    void park(QueuedAcquire pending, int requested) {
        long asked = add(pending, requested);
        changedAt = clock.now();
        if (isFirst(pending) && pending.state().demandAhead(latest.name()) == 0) {
            freeAtMost = asked - 1; // whatever the numbers are, it was too little
        }
    }

    /** A caller waits for which the database was not asked. Nothing more is known by that. */
    void join(QueuedAcquire pending) {
        long unused = add(pending, requestedBy(pending));
    }

    private long add(QueuedAcquire pending, int requested) {
        long asked = Math.max(1, requested);
        waiting.add(pending, asked);
        pending.shortOf().put(latest.name(), asked);
        return asked;
    }

    /** Whether the database has lately said how much is free, and whether what this caller asks for can ever be. */
    boolean isKnownFor(QueuedAcquire pending) {
        return clock.now() - answeredAt < RECENT
                && (latest.capacity() == 0 || requestedBy(pending) <= latest.capacity());
    }

    /** Whether too little is free for a caller that has just come, beside what those wait for that came earlier. */
    boolean isShortFor(QueuedAcquire pending) {
        return pending.command().exclusive() || free - waiting.demand() < requestedBy(pending);
    }

    private int requestedBy(QueuedAcquire pending) {
        AcquireCommand command = pending.command();
        return command.exclusive() ? latest.capacity() : command.permits().getOrDefault(latest.name(), 0);
    }

    /** How many permits are free, as far as is known. */
    long free() {
        return free;
    }

    /** More is free than was thought, or less. */
    void add(long permits) {
        free += permits;
        changedAt = clock.now();
    }

    /** The first caller is worth a try, whatever is free. */
    void raiseFree(long permits) {
        free = Math.max(free, permits);
    }

    /**
     * A batch has left this.
     *
     * @param changed by how many permits what is free has changed since the batch asked
     * @param asOf this JVM's clock before the batch asked
     */
    void batch(RemainingAvailability left, long changed, long asOf) {
        free = Math.min(left.free() + changed, freeAtMost);
        freeAtMost = Long.MAX_VALUE;
        changedAt = clock.now();
        answered(left.capacity(), left.held(), asOf);
    }

    /** The poller has read this; it counts unless more is known since. */
    void polled(PolledAvailability polled, long asOf) {
        if (changedAt - asOf < 0) {
            free = polled.free();
        }
        if (changedAt - asOf < 0 && !polled.isDeleted()) {
            answered(polled.capacity(), polled.held(), asOf);
        }
    }

    private void answered(int capacity, long held, long asOf) {
        latest = new PermitShortage(latest.name(), capacity, held, latest.requested(), latest.earliestExpiry());
        latestAsOf = asOf;
        answeredAt = clock.now();
    }

    /** A caller was refused with these numbers. */
    void refused(PermitShortage shortage) {
        latest = shortage;
    }

    /** Whether the latest numbers were asked for after this one had come. */
    boolean isAnsweredFor(QueuedAcquire pending) {
        return latestAsOf - pending.begunAt() > 0;
    }

    /** What is in the way of one that waits, by the latest numbers. */
    PermitShortage shortageOf(QueuedAcquire pending) {
        long spare = Math.max(0, latest.capacity() - latest.held());
        return new PermitShortage(
                latest.name(),
                latest.capacity(),
                latest.held(),
                pending.shortOf().getOrDefault(latest.name(), 0L).intValue(),
                latest.earliestExpiry(),
                Math.min(spare, waiting.demandAhead(pending.ticket())));
    }
}
