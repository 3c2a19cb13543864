package io.dbsemaphore.line;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * The callers of this instance that wait for one semaphore.
 *
 * @param first the callers with the smallest places, in order, at most {@link #MAX_FIRST}; in a line with shares, those that are next and
 *     the first of further keys, at most {@link #MAX_WITH_SHARES}
 * @param size the number of all callers
 * @param since the earliest arrival among all callers, in microseconds since 1970 by the database's clock
 * @param isShared whether the callers are in the order of their shares
 * @param hidesKeys whether there are keys none of whose callers is among the first
 * @param byShare the number of callers with the shares of the first ones, and with others that are asked for; empty if it is not limited
 */
public record LineHead(
        List<Waiter> first, int size, long since, boolean isShared, boolean hidesKeys, Map<Share, Integer> byShare) {

    public static final LineHead EMPTY = new LineHead(List.of(), 0);

    /** The maximum number of callers in a record. Later ones matter only if more permits than this are released at once. */
    public static final int MAX_FIRST = 16;

    /**
     * The maximum number of callers in a record that wait for several semaphores. Only the others matter while the reservation window is
     * closed.
     */
    public static final int MAX_OF_SEVERAL = 8;

    private static final int MAX_SCANNED = 256;

    /** The maximum number of callers in a record of a line with shares. */
    public static final int MAX_WITH_SHARES = 64;

    public LineHead {
        first = List.copyOf(first);
        byShare = Map.copyOf(byShare);
    }

    /** Creates the head of a line with shares, of whose callers any number may wait. */
    public LineHead(List<Waiter> first, int size, long since, boolean isShared, boolean hidesKeys) {
        this(first, size, since, isShared, hidesKeys, Map.of());
    }

    /** Creates the head of a line without shares. */
    public LineHead(List<Waiter> first, int size, long since) {
        this(first, size, since, false, false);
    }

    /** Creates the head of a line whose earliest caller is among the first ones. */
    public LineHead(List<Waiter> first, int size) {
        this(first, size, earliest(first));
    }

    private static long earliest(List<Waiter> callers) {
        return callers.stream().mapToLong(Waiter::arrival).min().orElse(Long.MAX_VALUE);
    }

    /** This head with callers that begin to wait. */
    public LineHead with(List<Waiter> more) {
        return with(more, more.size());
    }

    /**
     * This head with further callers.
     *
     * @param more the first of them
     * @param count the number of all of them
     */
    public LineHead with(List<Waiter> more, int count) {
        if (more.isEmpty()) {
            return this;
        }
        List<Waiter> all = new ArrayList<>(first);
        all.addAll(more);
        if (isShared) { // the transaction brings them in order
            return new LineHead(all, size + count, Math.min(since, earliest(more)), true, hidesKeys);
        }
        all.sort(Comparator.comparing(Waiter::place));
        return new LineHead(firstOf(all), size + count, Math.min(since, earliest(more)));
    }

    /** Chooses the callers to be recorded for a line with shares: those that are next, and the first of further keys. */
    public static <C> List<C> choose(Iterator<C> inOrder, Function<C, Share> shareOf) {
        List<C> chosen = new ArrayList<>();
        Set<Share> shares = new HashSet<>();
        for (int scanned = 0;
                inOrder.hasNext() && chosen.size() < MAX_WITH_SHARES && scanned < MAX_SCANNED;
                scanned++) {
            C next = inOrder.next();
            if (shares.add(shareOf.apply(next)) || chosen.size() < MAX_FIRST) {
                chosen.add(next);
            }
        }
        return chosen;
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

    public LineHead withCallers(Map<Share, Integer> counts) {
        return new LineHead(first, size, since, isShared, hidesKeys, counts);
    }

    /** The number of callers with a share; 0 if it is not known. */
    int callers(Share share) {
        return byShare.getOrDefault(share, 0);
    }

    /** The number of callers with a share, where that is known and not all of them are among the first. */
    public Map<String, Integer> furtherByShare() {
        Map<String, Integer> further = new HashMap<>();
        if (!byShare.isEmpty()) {
            Map<Share, Integer> listed = new HashMap<>();
            first.forEach(each -> listed.merge(each.share(), 1, Integer::sum));
            listed.forEach((share, count) -> {
                if (callers(share) > count) {
                    further.put(share.path(), callers(share));
                }
            });
        }
        return further;
    }

    /** Whether one of the first callers has a head start, and may stand ahead of callers that other instances know. */
    public boolean hasHeadStarts() {
        return first.stream().anyMatch(waiter -> waiter.headStart() > 0);
    }

    public boolean isEmpty() {
        return first.isEmpty();
    }
}
