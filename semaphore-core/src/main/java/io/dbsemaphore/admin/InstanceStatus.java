package io.dbsemaphore.admin;

import java.time.Instant;
import java.util.Optional;

/**
 * An application instance that is registered in the database. All times are by the database's clock.
 *
 * @param id the id of the instance; a restarted instance has a new one
 * @param name the owner name of the instance, by default {@code application@host:pid}
 * @param startedAt when it registered
 * @param heartbeatAt the time of its last heartbeat
 * @param alive whether its lease is valid; if not, {@code isHeld} is false for its grants, and other instances may reclaim their permits
 *     from {@code reclaimableAt} on
 * @param reclaimableAt when other instances may reclaim the permits that this instance keeps alive, unless a heartbeat comes first; the
 *     reclaim may come up to a third of {@code semaphore.instance-timeout} later. Empty if that is unknown
 * @param requests the number of permit-holding requests that this instance keeps alive
 */
public record InstanceStatus(
        long id,
        String name,
        Instant startedAt,
        Instant heartbeatAt,
        boolean alive,
        Optional<Instant> reclaimableAt,
        long requests) {}
