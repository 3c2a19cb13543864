package io.dbsemaphore.line;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The order of the first callers of all instances that wait for a semaphore with shares, at one moment. All instances compute it from the
 * same records and the same {@linkplain ShareTags tags}, so that none withholds permits for a caller that its own instance holds back.
 *
 * <p>Callers of several semaphores have no tag, since a place of its own in each line would be no order. While the {@linkplain
 * ReservationWindow window} is open, they stand before the others, by their arrival; while it is closed, behind them.
 */
public final class ShareOrder {

    /** Before the ranks of all callers of one semaphore. */
    private static final long BEFORE = Long.MIN_VALUE / 2;

    /** Behind the ranks of all callers of one semaphore. */
    private static final long BEHIND = Long.MAX_VALUE / 2;

    /**
     * A caller that waits.
     *
     * @param caller identifies it
     * @param instance the instance in which it waits
     * @param ticket decides between callers of one instance that came at the same time
     */
    public record Candidate(Object caller, Waiter waiter, long instance, long ticket) {

        private static final Comparator<Candidate> EARLIER = Comparator.<Candidate>comparingLong(
                        each -> each.waiter.place().at())
                .thenComparingLong(Candidate::instance)
                .thenComparingLong(Candidate::ticket);

        private Share share() {
            return waiter.share();
        }
    }

    private final Map<Object, Place> places = new IdentityHashMap<>();
    private final List<Candidate> inOrder = new ArrayList<>();
    private final WaitersElsewhere elsewhere;

    /**
     * Computes the order.
     *
     * @param own the callers of this instance
     * @param weights the weight of a tenant, and of a key by its path
     */
    public ShareOrder(
            List<Candidate> own,
            WaitersElsewhere elsewhere,
            ShareTags tags,
            ToIntFunction<String> weights,
            int capacity,
            boolean isWindowOpen) {
        List<Candidate> all = new ArrayList<>(own);
        for (RecordedHead queue : elsewhere.queues()) {
            queue.first().forEach(waiter -> all.add(new Candidate(waiter, waiter, queue.instance(), all.size())));
        }
        all.sort(Candidate.EARLIER);
        ShareLine<Candidate> line = lineOf(tags, weights, capacity);
        List<Candidate> several = new ArrayList<>();
        for (Candidate each : all) {
            if (each.waiter.ofSeveral()) {
                several.add(each);
            } else {
                line.add(each);
            }
        }
        if (isWindowOpen) {
            several.forEach(each -> place(each, BEFORE + inOrder.size()));
        }
        for (Iterator<Candidate> next = line.inOrder(); next.hasNext(); ) {
            place(next.next(), inOrder.size());
        }
        if (!isWindowOpen) {
            several.forEach(each -> place(each, BEHIND + inOrder.size()));
        }
        this.elsewhere = new WaitersElsewhere(
                elsewhere.instance(),
                elsewhere.queues().stream()
                        .map(queue -> queue.with(queue.first().stream()
                                .map(waiter -> waiter.at(Objects.requireNonNull(places.get(waiter))))
                                .sorted(Comparator.comparing(Waiter::place))
                                .toList()))
                        .toList());
    }

    static ShareLine<Candidate> lineOf(ShareTags tags, ToIntFunction<String> weights, int capacity) {
        return new ShareLine<>(
                tags,
                weights,
                capacity,
                Candidate::share,
                each -> each.waiter.ask().needs(capacity),
                Candidate.EARLIER);
    }

    /** The weights by which all instances share: those that the instances with callers of a share have recorded, the largest of them. */
    public static ToIntFunction<String> weights(
            List<Candidate> own, WaitersElsewhere elsewhere, ToIntFunction<String> ofThisInstance) {
        Map<String, Integer> weights = new HashMap<>(elsewhere.weights());
        for (Candidate each : own) {
            for (String share : List.of(each.share().tenant(), each.share().keyPath())) {
                weights.merge(share, ofThisInstance.applyAsInt(share), Math::max);
            }
        }
        return path -> {
            Integer weight = weights.get(path);
            return weight == null ? ofThisInstance.applyAsInt(path) : weight;
        };
    }

    private void place(Candidate each, long rank) {
        places.put(each.caller, Places.ranked(rank, each.waiter.place()));
        inOrder.add(each);
    }

    /** The place of a caller in this order; null if it is not known. */
    public @Nullable Place placeOf(Object caller) {
        return places.get(caller);
    }

    /** The callers of other instances, at their places in this order. */
    public WaitersElsewhere elsewhere() {
        return elsewhere;
    }

    /** All callers, the next one first. */
    public List<Candidate> inOrder() {
        return inOrder;
    }
}
