package io.dbsemaphore.domain;

/**
 * A caller that waits for permits of a semaphore, as other instances know it.
 *
 * @param place its place in the queue
 * @param permits the number of permits that it waits for; 0 if exclusive
 * @param exclusive whether it waits for the whole capacity
 * @param ofSeveral whether it waits for several semaphores
 */
public record Waiter(Place place, int permits, boolean exclusive, boolean ofSeveral) {

    /** Drops the count of an exclusive caller, so that two of them are equal whatever the capacity is. */
    public Waiter {
        permits = exclusive ? 0 : permits;
    }

    /** The number of permits that it waits for; 0 if they exceed the capacity. */
    Demand demand(int capacity) {
        int count = exclusive ? capacity : permits;
        return count > capacity ? Demand.NONE : new Demand(count, ofSeveral ? count : 0);
    }
}
