package io.dbsemaphore;

/**
 * The current state of a semaphore.
 *
 * @param name the name
 * @param capacity how many permits may be held at once; 0 if it is paused
 * @param held how many permits are held; more than the capacity after the capacity was lowered, until enough are
 *     released
 * @param available how many permits could be acquired now
 * @param requests how many acquires hold permits
 * @param waiting how many callers of all instances wait for permits; only of instances for which the semaphore is
 *     {@linkplain io.dbsemaphore.config.SemaphoreSettings#FAIR fair}
 */
public record SemaphoreStatus(String name, int capacity, long held, long available, long requests, long waiting) {

    /**
     * Creates a status without waiting callers.
     *
     * @param name the name
     * @param capacity how many permits may be held at once
     * @param held how many permits are held
     * @param available how many permits could be acquired now
     * @param requests how many acquires hold permits
     */
    public SemaphoreStatus(String name, int capacity, long held, long available, long requests) {
        this(name, capacity, held, available, requests, 0);
    }
}
