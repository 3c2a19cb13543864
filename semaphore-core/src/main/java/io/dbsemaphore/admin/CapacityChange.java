package io.dbsemaphore.admin;

import java.time.Instant;
import java.util.Optional;

/**
 * An entry of a semaphore's audit log: its capacity was changed, or an operator released permits by force.
 *
 * @param name the name of the semaphore
 * @param from the capacity before
 * @param to the capacity after; the same as {@code from} for a forced release
 * @param changedBy the operator
 * @param reason the reason that the operator gave
 * @param changedAt the time of the change, by the database's clock
 * @param forcedRelease the request that was released by force; empty for a change of the capacity
 */
public record CapacityChange(
        String name,
        int from,
        int to,
        String changedBy,
        String reason,
        Instant changedAt,
        Optional<ForcedRelease> forcedRelease) {

    /**
     * A request whose permits were released by force.
     *
     * @param externalId the external id of the request
     * @param owner the owner of the request
     * @param permits how many permits of the semaphore it held
     */
    public record ForcedRelease(String externalId, String owner, int permits) {}
}
