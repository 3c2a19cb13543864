package io.dbsemaphore.domain;

import java.time.Duration;
import java.util.Optional;

/**
 * An instance whose heartbeat has been overdue for the grace, so that its permits are reclaimed.
 *
 * @param name its owner name; empty where it has deregistered
 * @param silentFor the time since its last heartbeat, when that was read last; empty where it has deregistered
 */
public record DeadInstance(long id, Optional<String> name, Optional<Duration> silentFor) {}
