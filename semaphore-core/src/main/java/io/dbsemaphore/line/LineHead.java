package io.dbsemaphore.line;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The callers of this instance that wait for one semaphore.
 *
 * @param first the callers that have waited longest, in order, at most {@link #MAX_FIRST}
 * @param size the number of all callers
 */
public record LineHead(List<Waiter> first, int size) {

    public static final LineHead EMPTY = new LineHead(List.of(), 0);

    /** The maximum number of callers in a record. Later ones matter only if more permits than this are released at once. */
    public static final int MAX_FIRST = 16;

    /** How many of them may wait for several semaphores. The others also count while the reservation window is closed. */
    public static final int MAX_OF_SEVERAL = 8;

    public LineHead {
        first = List.copyOf(first);
    }

    /** This head with callers that begin to wait. */
    public LineHead with(List<Waiter> more) {
        return with(more, more.size());
    }

    /**
     * This head with further callers.
     *
     * @param more the first of them
     * @param count the number of all
     */
    public LineHead with(List<Waiter> more, int count) {
        if (more.isEmpty()) {
            return this;
        }
        List<Waiter> all = new ArrayList<>(first);
        all.addAll(more);
        all.sort(Comparator.comparing(Waiter::place));
        return new LineHead(firstOf(all), size + count);
    }

    private static List<Waiter> firstOf(List<Waiter> all) {
        List<Waiter> first = new ArrayList<>();
        int ofSeveral = 0;
        for (Waiter waiter : all) {
            ofSeveral += waiter.ofSeveral() ? 1 : 0;
            if (first.size() < MAX_FIRST && (!waiter.ofSeveral() || ofSeveral <= MAX_OF_SEVERAL)) {
                first.add(waiter);
            }
        }
        return first;
    }

    public boolean isEmpty() {
        return first.isEmpty();
    }
}
