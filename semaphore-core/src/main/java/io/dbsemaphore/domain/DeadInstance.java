package io.dbsemaphore.domain;

import java.time.Duration;
import java.util.Optional;

/**
 * An instance whose heartbeat has been overdue for the grace period, so that its permits are reclaimed.
 *
 * @param name its owner name; empty if it has deregistered
 * @param sinceHeartbeat how old its last heartbeat was when it was read; empty if it has deregistered
 */
public record DeadInstance(long id, Optional<String> name, Optional<Duration> sinceHeartbeat) {}
