package io.dbsemaphore;

import java.time.Instant;
import java.util.Optional;

/**
 * The application instance that keeps a grant alive.
 *
 * @param id the instance, for its lifetime
 * @param name its owner name, by default application name, host and process id; empty once it has deregistered
 * @param heartbeatAt its last heartbeat, by the database's clock; empty once it has deregistered
 * @param alive whether that heartbeat is fresh; if not, others may reclaim the permits of this instance
 */
public record HolderInstance(long id, Optional<String> name, Optional<Instant> heartbeatAt, boolean alive) {}
