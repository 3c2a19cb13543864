package io.dbsemaphore.domain;

import java.time.LocalDateTime;

/**
 * The held permits of a semaphore at one instant.
 *
 * @param exclusive whether they are held exclusively
 * @param lowestToken the lowest token of the held permits; 0 if none is held
 * @param now the database's clock at that instant, in UTC
 */
public record HeldSum(long semaphoreId, long held, boolean exclusive, long lowestToken, LocalDateTime now) {}
