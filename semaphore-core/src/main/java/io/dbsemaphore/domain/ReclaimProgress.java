package io.dbsemaphore.domain;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What one acquire has reclaimed: as much as it needs and some more for the next acquires, but never more than a short
 * transaction can. The sweep reclaims the rest.
 */
public final class ReclaimProgress {

    private static final int SPARE = 100;
    private static final int MAX_EXAMINED = 500;

    private final Collection<Shortfall> shortfalls;
    private final Map<String, Long> reclaimedPermits = new HashMap<>();
    private final List<ReclaimedRequest> released = new ArrayList<>();
    private final Set<Long> examined = new HashSet<>();

    public ReclaimProgress(Collection<Shortfall> shortfalls) {
        this.shortfalls = shortfalls;
    }

    public List<ReclaimedRequest> released() {
        return released;
    }

    /** The semaphores that still have too few permits available; empty once the transaction has reached its limit. */
    public List<Shortfall> stillShort() {
        return examined.size() >= MAX_EXAMINED
                ? List.of()
                : shortfalls.stream()
                        .filter(shortfall -> reclaimedPermits.getOrDefault(shortfall.name(), 0L) < shortfall.permits())
                        .toList();
    }

    /** The number of candidates to examine next. Each request holds at least one permit. */
    public int next() {
        long permits = stillShort().stream()
                .mapToLong(shortfall -> shortfall.permits() - reclaimedPermits.getOrDefault(shortfall.name(), 0L))
                .sum();
        return (int) Math.min(permits + SPARE, MAX_EXAMINED - examined.size());
    }

    /** The number of candidates that may still be examined. */
    public int limit() {
        return Math.max(1, MAX_EXAMINED - examined.size());
    }

    public boolean isNew(Long candidate) {
        return !examined.contains(candidate);
    }

    public void add(Collection<Long> candidates, List<ReclaimedRequest> taken) {
        examined.addAll(candidates);
        released.addAll(taken);
        taken.forEach(
                each -> each.permits().forEach((name, count) -> reclaimedPermits.merge(name, (long) count, Long::sum)));
    }
}
