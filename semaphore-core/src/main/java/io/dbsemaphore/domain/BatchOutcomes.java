package io.dbsemaphore.domain;

import java.util.LinkedHashMap;
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
    private final Map<AcquireState, GrantOutcome> outcomes = new LinkedHashMap<>();

    public BatchOutcomes(List<AcquireState> acquires) {
        this.acquires = acquires;
    }

    /** The acquires without an outcome, in the order of the batch. */
    public List<AcquireState> open() {
        return acquires.stream()
                .filter(acquire -> !outcomes.containsKey(acquire))
                .toList();
    }

    /** The names of the semaphores that the open acquires ask for. */
    public SortedSet<String> openNames() {
        return openNames(acquire -> true);
    }

    public SortedSet<String> openNames(Predicate<AcquireState> which) {
        TreeSet<String> names = new TreeSet<>();
        open().stream()
                .filter(which)
                .forEach(acquire -> names.addAll(acquire.charges().keySet()));
        return names;
    }

    /** Settles the open acquires for which the function returns an outcome. */
    public void settleAll(Function<AcquireState, @Nullable GrantOutcome> outcome) {
        for (AcquireState acquire : open()) {
            GrantOutcome settled = outcome.apply(acquire);
            if (settled != null) {
                settle(acquire, settled);
            }
        }
    }

    public void settle(AcquireState acquire, GrantOutcome outcome) {
        if (outcomes.put(acquire, outcome) != null) {
            throw new IllegalStateException(
                    "Decided twice: " + acquire.command().externalId());
        }
    }

    /** The outcomes, in the order of the batch. */
    public List<GrantOutcome> outcomes() {
        return acquires.stream()
                .map(acquire -> Objects.requireNonNull(outcomes.get(acquire), "Not decided"))
                .toList();
    }
}
