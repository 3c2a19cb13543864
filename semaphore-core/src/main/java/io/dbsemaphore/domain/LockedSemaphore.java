package io.dbsemaphore.domain;

/**
 * The row of a semaphore that the current transaction has locked.
 *
 * @param fence the highest fencing token granted so far
 */
public record LockedSemaphore(long id, String name, int capacity, long fence) {

    /** Whether the semaphore is paused, so that nothing can be acquired. */
    boolean isPaused() {
        return capacity == 0;
    }
}
