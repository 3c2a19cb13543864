package io.dbsemaphore.testing;

/** Counts who is inside at once, and remembers the most there ever were. */
public final class PeakCounter {

    private int current;
    private int peak;

    /** One more inside. */
    public void enter() {
        enter(1);
    }

    /**
     * So many more inside.
     *
     * @return how many are inside now
     */
    public synchronized int enter(int count) {
        current += count;
        peak = Math.max(peak, current);
        return current;
    }

    /** One less inside. */
    public void leave() {
        leave(1);
    }

    /** So many less inside. */
    public synchronized void leave(int count) {
        if (count > current) {
            throw new IllegalStateException(count + " leave where " + current + " are inside");
        }
        current -= count;
    }

    /** How many are inside. */
    public synchronized int current() {
        return current;
    }

    /** The most that were ever inside at once. */
    public synchronized int peak() {
        return peak;
    }
}
