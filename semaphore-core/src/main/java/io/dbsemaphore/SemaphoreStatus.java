package io.dbsemaphore;

/**
 * A semaphore as it stands.
 *
 * @param name its name
 * @param capacity how many permits may be held at once; 0 when paused
 * @param held how many are held; more than the capacity while it drains after the capacity was lowered
 * @param available how many could be acquired now
 * @param requests how many acquires hold them
 */
public record SemaphoreStatus(String name, int capacity, long held, long available, long requests) {}
