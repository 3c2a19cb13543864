package io.dbsemaphore.domain;

import java.time.Duration;

/**
 * The terms on which two acquires must agree for one to use the permits that the other has released.
 *
 * @param name the semaphore
 * @param count the number of permits; 1 if exclusive
 * @param exclusive whether they ask for the whole capacity
 * @param releasedAtShutdown whether a shutdown releases the grant
 * @param ttl the time to live
 * @param maxHold the maximum time for which the grant is kept alive
 */
public record ReuseTerms(
        String name, int count, boolean exclusive, boolean releasedAtShutdown, Duration ttl, Duration maxHold) {}
