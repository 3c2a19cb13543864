package io.dbsemaphore.admin;

import java.time.Instant;
import java.util.Optional;

/**
 * A holder of permits of a semaphore.
 *
 * @param externalId the external id of the request, by which it can be released
 * @param owner the owner
 * @param label what holds the permits; empty if the request has no label or its permits may be reused
 * @param count the number of permits
 * @param fencingToken the fencing token of the grant for this semaphore
 * @param acquiredAt when the permits were acquired, by the database's clock
 * @param expiresAt when they expire unless renewed, by the database's clock; empty if they are held until released
 * @param instance the instance that keeps the grant alive; empty if none does
 */
public record PermitHolder(
        String externalId,
        String owner,
        Optional<String> label,
        int count,
        long fencingToken,
        Instant acquiredAt,
        Optional<Instant> expiresAt,
        Optional<HolderInstance> instance) {

    /**
     * The application instance that keeps a grant alive.
     *
     * @param id the id of the instance; a restarted instance has a new one
     * @param name the owner name of the instance, by default {@code application@host:pid}; empty if it has deregistered
     * @param heartbeatAt the time of its last heartbeat, by the database's clock; empty if it has deregistered
     * @param alive whether its lease is valid; if not, {@code isHeld} is false for its grants, and other instances may reclaim their
     *     permits from {@code reclaimableAt} on
     * @param reclaimableAt when other instances may reclaim the permits, by the database's clock, unless a heartbeat comes first; empty if
     *     it has deregistered
     */
    public record HolderInstance(
            long id,
            Optional<String> name,
            Optional<Instant> heartbeatAt,
            boolean alive,
            Optional<Instant> reclaimableAt) {}
}
