package io.dbsemaphore.engine.batch;

import io.dbsemaphore.engine.support.Deadline;
import java.time.Duration;

/**
 * How much goes on at once: how many orders this JVM has in flight, how many of its batches wait for rows that others have
 * locked, and whether other nodes were at the same rows lately. Guarded by the lock of the {@link GrantQueue}.
 */
final class Contention {

    /** With so many callers at once, what one of them wants is better done together with what the others want. */
    private static final int MANY = 4;

    /** So long after they were seen, there are probably many again. */
    private static final Duration CONTENTION_PERSISTS = Duration.ofMillis(10);

    /** So long after a row was found locked by somebody else, it is rather waited for. */
    private static final Duration CONTESTED = Duration.ofSeconds(1);

    private final int maxWaitingBatches;
    private final QueueClock clock;
    private int waitingBatches;
    private int inFlight;
    private Deadline contestedUntil;
    private Deadline contendedUntil;

    /**
     * Begins with nothing in flight.
     *
     * @param maxWaitingBatches how many batches at a time may wait for rows that others have locked
     */
    Contention(int maxWaitingBatches, QueueClock clock) {
        this.maxWaitingBatches = maxWaitingBatches;
        this.clock = clock;
        contestedUntil = clock.in(Duration.ZERO);
        contendedUntil = clock.in(Duration.ZERO);
    }

    /** A batch of so many orders begins. */
    void begin(int commands, boolean isWaiting) {
        waitingBatches += isWaiting ? 1 : 0;
        inFlight += commands;
    }

    /** A batch of so many orders is over. */
    void end(int commands, boolean isWaiting) {
        waitingBatches -= isWaiting ? 1 : 0;
        if (inFlight >= MANY) {
            contendedUntil = clock.in(CONTENTION_PERSISTS);
        }
        inFlight -= commands;
    }

    /** Somebody else had locked a row. */
    void contested() {
        contestedUntil = clock.in(CONTESTED);
    }

    /** Whether another batch may wait for a row. */
    boolean mayWait() {
        return waitingBatches < maxWaitingBatches;
    }

    /** Whether a batch does better to wait for its row at its first attempt: few callers lose by that, or others are at it. */
    boolean waitsAtFirst(int queued) {
        return queued < MANY || !clock.isPassed(contestedUntil);
    }

    /** Whether other nodes are at the same rows, or batches wait for such: in the database's line, then. */
    boolean isWithOthers() {
        return waitingBatches > 0 || !clock.isPassed(contestedUntil);
    }

    /** Whether so many callers are at it that nobody should do alone what it wants. */
    boolean isAboveThreshold(int queued) {
        return queued + inFlight >= MANY || !clock.isPassed(contendedUntil);
    }
}
