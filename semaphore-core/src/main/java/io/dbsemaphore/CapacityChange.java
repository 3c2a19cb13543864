package io.dbsemaphore;

import java.time.Instant;

/**
 * The audit of a changed capacity.
 *
 * @param name the semaphore
 * @param from the capacity before
 * @param to the capacity after
 * @param changedBy who changed it
 * @param reason why
 * @param changedAt when, by the database's clock
 */
public record CapacityChange(String name, int from, int to, String changedBy, String reason, Instant changedAt) {}
