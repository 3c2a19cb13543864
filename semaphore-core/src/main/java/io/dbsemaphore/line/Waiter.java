package io.dbsemaphore.line;

/**
 * A caller that waits for permits of a semaphore, as other instances know it.
 *
 * @param place its place in the line
 * @param ask the permits that it waits for
 * @param ofSeveral whether it waits for several semaphores
 * @param headStart by how much its place is before its arrival, in microseconds
 * @param share its share; {@link Share#NONE} if it has none
 */
public record Waiter(Place place, Ask ask, boolean ofSeveral, long headStart, Share share) {

    /** A caller without a share. */
    public Waiter(Place place, Ask ask, boolean ofSeveral, long headStart) {
        this(place, ask, ofSeveral, headStart, Share.NONE);
    }

    /** A caller without a head start and without a share. */
    public Waiter(Place place, Ask ask, boolean ofSeveral) {
        this(place, ask, ofSeveral, 0);
    }

    Waiter at(Place other) {
        return new Waiter(other, ask, ofSeveral, headStart, share);
    }

    /** When it came, in microseconds since 1970 by the database's clock. */
    public long arrival() {
        return place.at() + headStart;
    }

    /** The number of permits that it waits for; 0 if they exceed the capacity. */
    Demand demand(int capacity) {
        int count = ask.permits(capacity);
        return count > capacity ? Demand.NONE : new Demand(count, ofSeveral ? count : 0, 1);
    }
}
