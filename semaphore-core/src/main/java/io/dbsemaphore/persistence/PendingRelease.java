package io.dbsemaphore.persistence;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * A release of requests that the next round trip of the transaction executes, except for requests with a permit that
 * another transaction has locked.
 *
 * @param requestIds the ids of the requests
 * @param released the ids of the requests that were released, after the round trip; throws
 *     {@link io.dbsemaphore.domain.PartialReleaseException} if another transaction has released one of them
 */
record PendingRelease(Set<Long> requestIds, Supplier<Set<Long>> released) {

    static final PendingRelease NONE = new PendingRelease(Set.of(), Set::of);

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
