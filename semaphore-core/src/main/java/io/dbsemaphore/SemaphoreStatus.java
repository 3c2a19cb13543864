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
 */
public record SemaphoreStatus(String name, int capacity, long held, long available, long requests) {}
