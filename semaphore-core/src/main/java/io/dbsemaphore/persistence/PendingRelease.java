package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.PartialReleaseException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * A release of requests that the next round trip of the transaction executes, except for requests with a permit that
 * another transaction has locked.
 *
 * @param permitIds the ids of the permits of each request, by its id
 * @param locked the ids of the permits that were held and are now locked by this transaction
 * @param changed the number of requests that were released
 */
record PendingRelease(SortedMap<Long, List<Long>> permitIds, Supplier<Set<Long>> locked, Supplier<Integer> changed) {

    static final PendingRelease NONE = new PendingRelease(new TreeMap<>(), Set::of, () -> 0);

    /**
     * The ids of the requests that were released. To be called after the round trip.
     *
     * @throws PartialReleaseException if another transaction has released one of them
     */
    Set<Long> released() {
        Set<Long> released = requestsOf(permitIds, locked.get());
        if (changed.get() != released.size()) {
            throw new PartialReleaseException();
        }
        return released;
    }

    /** The requests all of whose permits are among these. */
    static Set<Long> requestsOf(SortedMap<Long, List<Long>> permitIds, Set<Long> permits) {
        return permitIds.entrySet().stream()
                .filter(request -> permits.containsAll(request.getValue()))
                .map(Map.Entry::getKey)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    static SortedSet<Long> permitsOf(Set<Long> requestIds, Map<Long, List<Long>> permitIds) {
        SortedSet<Long> permits = new TreeSet<>();
        requestIds.forEach(id -> permits.addAll(permitIds.getOrDefault(id, List.of())));
        return permits;
    }
}
