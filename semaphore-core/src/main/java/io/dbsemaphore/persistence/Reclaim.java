package io.dbsemaphore.persistence;

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
final class Reclaim {

    private static final int SPARE = 100;
    private static final int MOST = 500;

    private final Collection<Lack> lacks;
    private final Map<String, Long> reclaimedPermits = new HashMap<>();
    private final List<TakenBack> released = new ArrayList<>();
    private final Set<Long> examined = new HashSet<>();

    Reclaim(Collection<Lack> lacks) {
        this.lacks = lacks;
    }

    List<TakenBack> released() {
        return released;
    }

    /** The semaphores that still have too few free permits; none when this transaction has done enough. */
    List<Lack> lacking() {
        return examined.size() >= MOST
                ? List.of()
                : lacks.stream()
                        .filter(lack -> reclaimedPermits.getOrDefault(lack.name(), 0L) < lack.permits())
                        .toList();
    }

    /** How many of the candidates are tried next: a request holds one permit at least. */
    int next() {
        long permits = lacking().stream()
                .mapToLong(lack -> lack.permits() - reclaimedPermits.getOrDefault(lack.name(), 0L))
                .sum();
        return (int) Math.min(permits + SPARE, MOST - examined.size());
    }

    /** How many candidates may be tried yet. */
    int limit() {
        return Math.max(1, MOST - examined.size());
    }

    boolean isNew(Long candidate) {
        return !examined.contains(candidate);
    }

    void add(Collection<Long> candidates, List<TakenBack> taken) {
        examined.addAll(candidates);
        released.addAll(taken);
        taken.forEach(
                each -> each.permits().forEach((name, count) -> reclaimedPermits.merge(name, (long) count, Long::sum)));
    }
}
