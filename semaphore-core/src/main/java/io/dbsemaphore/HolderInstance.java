package io.dbsemaphore;

import java.time.Instant;
import java.util.Optional;

/**
 * The application instance that keeps a grant alive.
 *
 * @param id the id of the instance; a restarted instance has a new one
 * @param name the owner name of the instance, by default {@code application@host:pid}; empty if it has deregistered
 * @param heartbeatAt the time of its last heartbeat, by the database's clock; empty if it has deregistered
 * @param alive whether the last heartbeat is recent enough; if not, other instances may reclaim the permits that this
 *     instance keeps alive
 */
public record HolderInstance(long id, Optional<String> name, Optional<Instant> heartbeatAt, boolean alive) {}
