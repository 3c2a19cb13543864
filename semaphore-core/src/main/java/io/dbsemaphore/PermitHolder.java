package io.dbsemaphore;

import java.time.Instant;
import java.util.Optional;

/**
 * Someone who holds permits of a semaphore.
 *
 * @param externalId the id of the request, with which it can be released
 * @param owner who it is
 * @param count how many permits
 * @param fencingToken the token of the grant on this semaphore
 * @param acquiredAt since when, by the database's clock
 * @param expiresAt until when unless renewed, by the database's clock; empty when held until released
 * @param instance the instance that keeps the grant alive; empty where none does
 */
public record PermitHolder(
        String externalId,
        String owner,
        int count,
        long fencingToken,
        Instant acquiredAt,
        Optional<Instant> expiresAt,
        Optional<HolderInstance> instance) {

    /** Creates a holder of permits that no instance keeps alive. */
    public PermitHolder(
            String externalId,
            String owner,
            int count,
            long fencingToken,
            Instant acquiredAt,
            Optional<Instant> expiresAt) {
        this(externalId, owner, count, fencingToken, acquiredAt, expiresAt, Optional.empty());
    }
}
