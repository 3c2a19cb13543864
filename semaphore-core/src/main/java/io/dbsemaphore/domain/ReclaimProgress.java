package io.dbsemaphore.domain;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What one acquire takes back: as much as it needs and a little more for those that come next, and never more than a
 * transaction can do quickly. The sweep does the rest.
 */
public final class ReclaimProgress {

    private static final int SPARE = 100;
    private static final int MOST = 500;

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

    /** The semaphores that still have too few free permits; none when this transaction has done enough. */
    public List<Shortfall> stillShort() {
        return examined.size() >= MOST
                ? List.of()
                : shortfalls.stream()
                        .filter(shortfall -> reclaimedPermits.getOrDefault(shortfall.name(), 0L) < shortfall.permits())
                        .toList();
    }

    /** How many of the candidates are tried next: a request holds one permit at least. */
    public int next() {
        long permits = stillShort().stream()
                .mapToLong(shortfall -> shortfall.permits() - reclaimedPermits.getOrDefault(shortfall.name(), 0L))
                .sum();
        return (int) Math.min(permits + SPARE, MOST - examined.size());
    }

    /** How many candidates may be tried yet. */
    public int limit() {
        return Math.max(1, MOST - examined.size());
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
