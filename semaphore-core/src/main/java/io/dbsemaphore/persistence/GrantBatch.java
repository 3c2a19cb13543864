package io.dbsemaphore.persistence;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The orders that one transaction decides, each with its outcome as soon as it has one. */
final class GrantBatch {

    private final List<GrantOrder> orders;
    private final Map<GrantOrder, GrantOutcome> outcomes = new LinkedHashMap<>();

    GrantBatch(List<GrantOrder> orders) {
        this.orders = orders;
    }

    /** The orders without an outcome, in the order in which they came. */
    List<GrantOrder> open() {
        return orders.stream().filter(order -> !outcomes.containsKey(order)).toList();
    }

    /** The names that open orders ask for. */
    SortedSet<String> openNames() {
        TreeSet<String> names = new TreeSet<>();
        open().forEach(order -> names.addAll(order.permits().keySet()));
        return names;
    }

    /** Settles those open orders for which there is an outcome. */
    void settleAll(Function<GrantOrder, @Nullable GrantOutcome> outcome) {
        for (GrantOrder order : open()) {
            GrantOutcome settled = outcome.apply(order);
            if (settled != null) {
                settle(order, settled);
            }
        }
    }

    void settle(GrantOrder order, GrantOutcome outcome) {
        if (outcomes.put(order, outcome) != null) {
            throw new IllegalStateException("Decided twice: " + order.externalId());
        }
    }

    /** The outcomes, in the order of the orders. */
    List<GrantOutcome> outcomes() {
        List<GrantOutcome> result = new ArrayList<>();
        for (GrantOrder order : orders) {
            GrantOutcome outcome = outcomes.get(order);
            if (outcome == null) {
                throw new IllegalStateException("Not decided: " + order.externalId());
            }
            result.add(outcome);
        }
        return result;
    }
}
