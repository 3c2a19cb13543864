package io.dbsemaphore;

import java.time.Instant;
import java.util.Optional;

/**
 * A request that holds or held permits of a semaphore. All times are by the database's clock.
 *
 * @param externalId the external id of the request
 * @param owner the owner
 * @param count the number of permits
 * @param fencingToken the fencing token of the grant for this semaphore
 * @param acquiredAt when the permits were acquired
 * @param releasedAt when they were released, or reclaimed after they had expired; empty if they are held
 * @param expiresAt when they expire unless renewed, or would have expired; empty if they are held until released
 */
public record PermitUse(
        String externalId,
        String owner,
        int count,
        long fencingToken,
        Instant acquiredAt,
        Optional<Instant> releasedAt,
        Optional<Instant> expiresAt) {}
