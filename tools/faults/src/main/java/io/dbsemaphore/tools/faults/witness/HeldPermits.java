package io.dbsemaphore.tools.faults.witness;

import io.dbsemaphore.tools.faults.oracle.Findings;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** The permits held after each commit of the log, compared with the capacities. */
final class HeldPermits {

    private static final String ACQUIRED = "ACQUIRED";

    private final Map<String, Integer> capacities;
    private final Findings findings;
    private final Map<String, Integer> ownCapacities = new HashMap<>();
    private final Map<Long, String> names = new HashMap<>();
    private final Map<Long, Long> held = new HashMap<>();
    private final Set<Long> changed = new HashSet<>();
    private long commits;

    /** @param capacities as they were promised; of other semaphores the log tells them */
    HeldPermits(Map<String, Integer> capacities, Findings findings) {
        this.capacities = capacities;
        this.findings = findings;
    }

    /** A semaphore is inserted or updated. */
    void semaphore(long id, String name, int capacity) {
        names.put(id, name);
        ownCapacities.put(name, capacity);
    }

    /** A permit is inserted. */
    void added(long semaphore, long count, String state) {
        add(semaphore, state.equals(ACQUIRED) ? count : 0);
    }

    /** A permit is deleted, or about to be updated. */
    void removed(long semaphore, long count, String state) {
        add(semaphore, state.equals(ACQUIRED) ? -count : 0);
    }

    private void add(long semaphore, long count) {
        if (count != 0) {
            held.merge(semaphore, count, Long::sum);
            changed.add(semaphore);
        }
    }

    /** The changes since the last commit are committed. */
    void committed(String position) {
        if (!changed.isEmpty()) {
            commits++;
            changed.forEach(id -> check(id, position));
            changed.clear();
        }
    }

    private void check(long id, String position) {
        String name = names.getOrDefault(id, "unknown semaphore " + id);
        int capacity = capacities.getOrDefault(name, ownCapacities.getOrDefault(name, 0));
        long sum = held.getOrDefault(id, 0L);
        if (sum > capacity || sum < 0) {
            findings.add(
                    Findings.Kind.LOGGED_OVER_GRANT,
                    "%s: %d of %d held after the commit at %s".formatted(name, sum, capacity, position));
        }
    }

    /** The commits that changed what is held. */
    long commits() {
        return commits;
    }
}
