package io.dbsemaphore.domain;

import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What one transaction is to grant.
 *
 * @param acquires with external ids that differ, in the order in which they are to be decided
 * @param awaited the names whose rows are waited for when others have locked them, one after the other in the order of
 *     their ids, before any other row is locked; orders that name another such row are {@linkplain GrantOutcome.Postponed
 *     postponed}
 * @param releases what is released first, so that its room can be granted: the keys of the permits of each request, by
 *     its key. What somebody else has locked stays held, see {@link BatchResult#released}
 */
public record GrantBatch(List<AcquireState> acquires, Set<String> awaited, SortedMap<Long, List<Long>> releases) {

    /** Copies them. */
    public GrantBatch {
        acquires = List.copyOf(acquires);
        awaited = Set.copyOf(awaited);
        releases = Collections.unmodifiableSortedMap(new TreeMap<>(releases));
    }

    /** One order, whose rows are waited for. */
    public static GrantBatch of(AcquireState acquire) {
        return new GrantBatch(List.of(acquire), acquire.command().permits().keySet(), Collections.emptySortedMap());
    }
}
