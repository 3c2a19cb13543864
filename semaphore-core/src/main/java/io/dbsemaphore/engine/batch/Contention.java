package io.dbsemaphore.engine.batch;

import io.dbsemaphore.engine.support.Deadline;
import java.time.Duration;

/**
 * Measures contention: the number of acquires that this JVM has in flight, the number of its batches that wait for row locks,
 * and whether other instances have locked the same rows recently. The contention threshold is that of PostgreSQL's {@code
 * commit_siblings}. Guarded by the lock of the {@link GrantQueue}.
 *
 * @see <a href="https://www.postgresql.org/docs/current/runtime-config-wal.html">PostgreSQL: Write Ahead Log settings</a>
 */
final class Contention {

    /** From this number of concurrent callers on, a batch that waits briefly gathers more of them. */
    private static final int THRESHOLD = 4;

    /** How long contention is assumed to persist after it was observed. */
    private static final Duration CONTENTION_PERSISTS = Duration.ofMillis(10);

    /** How long batches prefer to wait for row locks after a row was found locked by another transaction. */
    private static final Duration CONTESTED = Duration.ofSeconds(1);

    private final int maxWaitingBatches;
    private final QueueClock clock;
    private int waitingBatches;
    private int inFlight;
    private Deadline contestedUntil;
    private Deadline contendedUntil;

    /**
     * Creates it with nothing in flight.
     *
     * @param maxWaitingBatches the maximum number of batches that wait for row locks of other transactions
     */
    Contention(int maxWaitingBatches, QueueClock clock) {
        this.maxWaitingBatches = maxWaitingBatches;
        this.clock = clock;
        contestedUntil = clock.in(Duration.ZERO);
        contendedUntil = clock.in(Duration.ZERO);
    }

    void begin(int acquires, boolean isWaiting) {
        waitingBatches += isWaiting ? 1 : 0;
        inFlight += acquires;
    }

    void end(int acquires, boolean isWaiting) {
        waitingBatches -= isWaiting ? 1 : 0;
        if (inFlight >= THRESHOLD) {
            contendedUntil = clock.in(CONTENTION_PERSISTS);
        }
        inFlight -= acquires;
    }

    /** Records that another transaction had locked a row. */
    void contested() {
        contestedUntil = clock.in(CONTESTED);
    }

    /** Whether a further batch may wait for a row lock. */
    boolean mayWait() {
        return waitingBatches < maxWaitingBatches;
    }

    /** Whether a batch waits for its row lock at the first attempt: if few callers are delayed by that, or if the row is contested. */
    boolean waitsAtFirst(int queued) {
        return queued < THRESHOLD || !clock.isPassed(contestedUntil);
    }

    /** Whether other instances lock the same rows, so that batches wait for row locks. */
    boolean isWithOthers() {
        return waitingBatches > 0 || !clock.isPassed(contestedUntil);
    }

    /** Whether so many callers are active that a batch that waits briefly gathers more of them. */
    boolean isAboveThreshold(int queued) {
        return queued + inFlight >= THRESHOLD || !clock.isPassed(contendedUntil);
    }
}
