package io.dbsemaphore.persistence;

import java.util.List;

/**
 * What one transaction is to grant.
 *
 * @param orders with external ids that differ, in the order in which they are to be decided
 * @param waiting whether to wait for rows that others have locked, one after the other in the order of their ids;
 *     otherwise orders that name such a row are {@linkplain GrantOutcome.Postponed postponed}
 */
public record GrantRound(List<GrantOrder> orders, boolean waiting) {

    /** Copies the orders. */
    public GrantRound {
        orders = List.copyOf(orders);
    }
}
