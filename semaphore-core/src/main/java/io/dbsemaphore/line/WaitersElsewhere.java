package io.dbsemaphore.line;

import java.time.LocalDateTime;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The callers of other instances that wait for a semaphore. Their permits are withheld from later callers of this instance.
 *
 * @param instance the id of this instance
 * @param queues the valid heads of the lines of other instances, none of them empty
 */
public record WaitersElsewhere(long instance, List<RecordedHead> queues) {

    public static final WaitersElsewhere NONE = new WaitersElsewhere(0, List.of());

    /**
     * Selects the valid heads of the lines of other instances.
     *
     * @param instance the id of this instance
     * @param now the database's clock
     */
    public static WaitersElsewhere of(Collection<RecordedHead> queues, long instance, LocalDateTime now) {
        if (queues.isEmpty()) {
            return NONE;
        }
        List<RecordedHead> others = queues.stream()
                .filter(queue -> queue.instance() != instance
                        && queue.isValid(now)
                        && !queue.first().isEmpty())
                .toList();
        return others.isEmpty() ? NONE : new WaitersElsewhere(instance, others);
    }

    public boolean isEmpty() {
        return queues.isEmpty();
    }

    /** Whether the callers of one of these instances are in the order of their shares. */
    public boolean hasShares() {
        return queues.stream().anyMatch(RecordedHead::isShared);
    }

    /** Whether all these instances know shares. Otherwise, all callers are served in the order of their arrival. */
    public boolean knowShares() {
        return queues.stream().noneMatch(queue -> queue.weights() == null);
    }

    /** The weights of the shares of these callers; the largest where instances differ. */
    public Map<String, Integer> weights() {
        Map<String, Integer> weights = new HashMap<>();
        for (RecordedHead queue : queues) {
            if (queue.weights() != null) {
                queue.weights().forEach((share, weight) -> weights.merge(share, weight, Math::max));
            }
        }
        return weights;
    }

    /**
     * The number of permits that are withheld for callers ahead of this place.
     *
     * @param capacity the capacity of the semaphore
     * @param isWindowOpen whether permits are withheld for callers of {@linkplain ReservationWindow several} semaphores
     */
    public long withheldAhead(Place place, int capacity, boolean isWindowOpen) {
        long withheld = 0;
        for (RecordedHead queue : queues) {
            for (Waiter waiter : queue.first()) {
                withheld += isAhead(waiter, queue.instance(), place)
                        ? waiter.demand(capacity).withheld(isWindowOpen)
                        : 0;
            }
        }
        return withheld;
    }

    /** The number of all these callers, including those whose places are not known. */
    public long callers() {
        long callers = 0;
        for (RecordedHead queue : queues) {
            callers += queue.size();
        }
        return callers;
    }

    /** The number of these callers with a share, as far as it is known. */
    public long callers(Share share) {
        long callers = 0;
        for (RecordedHead queue : queues) {
            callers += queue.callers(share);
        }
        return callers;
    }

    /** The shares of those of these callers that are known. */
    public Set<Share> shares() {
        Set<Share> shares = new HashSet<>();
        queues.forEach(queue -> queue.first().forEach(waiter -> shares.add(waiter.share())));
        return shares;
    }

    /** The number of callers that are known to be ahead of this place. */
    public long callersAhead(Place place) {
        long ahead = 0;
        for (RecordedHead queue : queues) {
            for (Waiter waiter : queue.first()) {
                ahead += isAhead(waiter, queue.instance(), place) ? 1 : 0;
            }
        }
        return ahead;
    }

    /** Whether more callers may be ahead of this place than {@link #callersAhead} counts, since not all places are known. */
    public boolean mayMoreBeAhead(Place place) {
        return queues.stream().anyMatch(queue -> {
            Waiter last = queue.lastBeforeHidden();
            return last != null && isAhead(last, queue.instance(), place);
        });
    }

    /**
     * The number of callers that came later than this time, in microseconds since 1970. Callers whose places are not known count if a known
     * caller of their instance does.
     */
    public long callersSince(long arrival) {
        long since = 0;
        for (RecordedHead queue : queues) {
            since += callersSince(arrival, queue, queue.first(), queue.size());
        }
        return since;
    }

    /** As {@link #callersSince(long)}, of the callers with a share. */
    public long callersSince(long arrival, Share share) {
        long since = 0;
        for (RecordedHead queue : queues) {
            List<Waiter> first = queue.first().stream()
                    .filter(waiter -> waiter.share().equals(share))
                    .toList();
            since += callersSince(arrival, queue, first, queue.callers(share));
        }
        return since;
    }

    private long callersSince(long arrival, RecordedHead queue, List<Waiter> first, long size) {
        long earlier = 0;
        for (Waiter waiter : first) {
            boolean isTie = waiter.arrival() == arrival && queue.instance() < instance;
            earlier += isTie || waiter.arrival() < arrival ? 1 : 0;
        }
        return earlier < first.size() ? size - earlier : 0;
    }

    /** The number of other instances that have a caller ahead of this place, and permits withheld for it. */
    public int instancesAhead(Place place, boolean isWindowOpen) {
        return (int) queues.stream()
                .filter(queue -> queue.first().stream()
                        .anyMatch(waiter ->
                                isAhead(waiter, queue.instance(), place) && (isWindowOpen || !waiter.ofSeveral())))
                .count();
    }

    /** Whether all these callers are ahead of this place. */
    public boolean areAhead(Place place) {
        return queues.stream()
                .allMatch(queue -> queue.first().stream().allMatch(waiter -> isAhead(waiter, queue.instance(), place)));
    }

    private boolean isAhead(Waiter waiter, long itsInstance, Place place) {
        int order = waiter.place().compareTo(place);
        return order < 0 || (order == 0 && itsInstance < instance);
    }
}
