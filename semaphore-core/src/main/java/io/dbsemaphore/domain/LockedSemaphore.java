package io.dbsemaphore.domain;

/**
 * The row of a semaphore, locked by this transaction.
 *
 * @param fence the highest fencing token that was handed out
 */
public record LockedSemaphore(long id, String name, int capacity, long fence) {

    /** Whether nobody can acquire, whatever is held. */
    boolean isPaused() {
        return capacity == 0;
    }
}
