package io.dbsemaphore;

import java.time.Instant;
import java.util.Optional;

/**
 * One entry of the audit of a semaphore: its capacity was changed, or permits were released by force.
 *
 * @param name the semaphore
 * @param from the capacity before
 * @param to the capacity after; the same where permits were released by force
 * @param changedBy the operator
 * @param reason why
 * @param changedAt when, by the database's clock
 * @param forcedRelease what was released by force; empty where the capacity was changed
 */
public record CapacityChange(
        String name,
        int from,
        int to,
        String changedBy,
        String reason,
        Instant changedAt,
        Optional<ForcedRelease> forcedRelease) {

    /** Creates the entry of a changed capacity. */
    public CapacityChange(String name, int from, int to, String changedBy, String reason, Instant changedAt) {
        this(name, from, to, changedBy, reason, changedAt, Optional.empty());
    }
}
