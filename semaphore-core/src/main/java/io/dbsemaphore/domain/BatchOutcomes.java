package io.dbsemaphore.domain;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The acquires that one transaction decides, and the outcomes of those that are settled. */
public final class BatchOutcomes {

    private final List<AcquireState> acquires;
    private final Map<AcquireState, GrantOutcome> outcomes = new HashMap<>();
    private List<AcquireState> open;

    public BatchOutcomes(List<AcquireState> acquires) {
        this.acquires = acquires;
        open = List.copyOf(acquires);
    }

    /** The acquires without an outcome, in the order of the batch. */
    public List<AcquireState> open() {
        return open;
    }

    /** The names of the semaphores that the open acquires ask for. */
    public SortedSet<String> openNames() {
        return openNames(acquire -> true);
    }

    public SortedSet<String> openNames(Predicate<AcquireState> which) {
        TreeSet<String> names = new TreeSet<>();
        for (AcquireState acquire : open) {
            if (which.test(acquire)) {
                names.addAll(acquire.charges().keySet());
            }
        }
        return names;
    }

    /** Settles the open acquires for which the function returns an outcome. */
    public void settleAll(Function<AcquireState, @Nullable GrantOutcome> outcome) {
        Map<AcquireState, GrantOutcome> settled = new HashMap<>();
        for (AcquireState acquire : open) {
            GrantOutcome its = outcome.apply(acquire);
            if (its != null) {
                settled.put(acquire, its);
            }
        }
        settleAll(settled);
    }

    public void settle(AcquireState acquire, GrantOutcome outcome) {
        settleAll(Map.of(acquire, outcome));
    }

    public void settleAll(Map<AcquireState, GrantOutcome> settled) {
        if (settled.isEmpty()) {
            return;
        }
        settled.forEach((acquire, outcome) -> {
            if (outcomes.put(acquire, outcome) != null) {
                throw new IllegalStateException(
                        "Decided twice: " + acquire.command().externalId());
            }
        });
        List<AcquireState> rest = new ArrayList<>(open);
        rest.removeIf(outcomes::containsKey);
        open = rest;
    }

    /** The outcomes, in the order of the batch. */
    public List<GrantOutcome> outcomes() {
        List<GrantOutcome> all = new ArrayList<>(acquires.size());
        for (AcquireState acquire : acquires) {
            all.add(Objects.requireNonNull(outcomes.get(acquire), "Not decided"));
        }
        return all;
    }
}
