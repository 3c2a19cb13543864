package io.dbsemaphore.domain;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The orders that one transaction decides, each with its outcome as soon as it has one. */
public final class BatchOutcomes {

    private final List<AcquireState> acquires;
    private final Map<AcquireState, GrantOutcome> outcomes = new LinkedHashMap<>();

    public BatchOutcomes(List<AcquireState> acquires) {
        this.acquires = acquires;
    }

    /** The orders without an outcome, in the order in which they came. */
    public List<AcquireState> open() {
        return acquires.stream()
                .filter(acquire -> !outcomes.containsKey(acquire))
                .toList();
    }

    /** The names that open orders ask for. */
    public SortedSet<String> openNames() {
        TreeSet<String> names = new TreeSet<>();
        open().forEach(acquire -> names.addAll(acquire.command().permits().keySet()));
        return names;
    }

    /** Settles those open orders for which there is an outcome. */
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

    /** The outcomes, in the order of the orders. */
    public List<GrantOutcome> outcomes() {
        List<GrantOutcome> result = new ArrayList<>();
        for (AcquireState acquire : acquires) {
            GrantOutcome outcome = outcomes.get(acquire);
            if (outcome == null) {
                throw new IllegalStateException(
                        "Not decided: " + acquire.command().externalId());
            }
            result.add(outcome);
        }
        return result;
    }
}
