package io.dbsemaphore.domain;

import java.time.LocalDateTime;

/**
 * What is held of a semaphore at an instant.
 *
 * @param exclusive more than 0 when an exclusive permit is among it
 * @param lowestToken the lowest token of what is held; 0 when nothing is
 * @param now the database's clock at that instant, in UTC
 */
public record HeldSum(long semaphoreId, long held, int exclusive, long lowestToken, LocalDateTime now) {

    boolean isExclusive() {
        return exclusive > 0;
    }
}
