package io.dbsemaphore.domain;

/**
 * What a transaction leaves of a semaphore whose row it has locked.
 *
 * @param capacity its capacity; 0 when paused
 * @param held how many permits are held
 * @param free how many permits are free; none while it is held exclusively
 * @param fenceBefore the fence that the transaction found
 * @param fence the fence that it leaves
 */
public record RemainingAvailability(int capacity, long held, long free, long fenceBefore, long fence) {}
