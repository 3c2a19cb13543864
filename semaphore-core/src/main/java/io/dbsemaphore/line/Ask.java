package io.dbsemaphore.line;

/**
 * How many permits of one semaphore a caller asks for: a number, or all of them. Only this class states what that means for a capacity.
 *
 * @param count the number of permits, at least 1; 0 if exclusive
 * @param exclusive whether it asks for the whole capacity, whatever that is by then
 */
public record Ask(int count, boolean exclusive) {

    public static final Ask ALL = new Ask(0, true);

    /** Makes all asks for the whole capacity equal. */
    public Ask {
        count = exclusive ? 0 : count;
    }

    public static Ask of(int count) {
        return new Ask(count, false);
    }

    /** The number of permits that it asks for. */
    public int permits(int capacity) {
        return exclusive ? capacity : count;
    }

    /** The number of permits that it asks for if the capacity is not known; the largest number if exclusive. */
    public int permits() {
        return permits(Integer.MAX_VALUE);
    }

    /** The number of permits that it needs: at least one, even of a paused semaphore. */
    public int needs(int capacity) {
        return Math.max(1, permits(capacity));
    }

    /** Whether it can never be granted, so that waiting is pointless. Callers may wait for a paused semaphore, of capacity 0. */
    public boolean exceeds(int capacity) {
        return capacity > 0 && permits(capacity) > capacity;
    }
}
