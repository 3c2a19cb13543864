package io.dbsemaphore.persistence;

import java.util.List;
import java.util.Set;

/**
 * What one transaction is to grant.
 *
 * @param orders with external ids that differ, in the order in which they are to be decided
 * @param awaited the names whose rows are waited for when others have locked them, one after the other in the order of
 *     their ids, before any other row is locked; orders that name another such row are {@linkplain GrantOutcome.Postponed
 *     postponed}
 */
public record GrantRound(List<GrantOrder> orders, Set<String> awaited) {

    /** Copies both. */
    public GrantRound {
        orders = List.copyOf(orders);
        awaited = Set.copyOf(awaited);
    }

    /** One order, whose rows are waited for. */
    public static GrantRound of(GrantOrder order) {
        return new GrantRound(List.of(order), order.permits().keySet());
    }
}
