package io.dbsemaphore.domain;

import java.util.Collection;
import java.util.List;

/**
 * A semaphore with too few permits available for the acquires of a batch.
 *
 * @param permits the sum of the permits that the refused acquires ask for, plus those held above a lowered capacity
 */
public record Shortfall(long semaphoreId, String name, long permits) {

    public static List<Long> ids(Collection<Shortfall> shortfalls) {
        return shortfalls.stream().map(Shortfall::semaphoreId).toList();
    }

    /** This shortfall plus the permits of one more refused acquire. */
    Shortfall plus(int requested) {
        return new Shortfall(semaphoreId, name, permits + requested);
    }
}
