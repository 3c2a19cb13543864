package io.dbsemaphore;

import java.time.Instant;

/**
 * The callers of one application instance that wait for permits of a semaphore.
 *
 * @param instance the id of the instance
 * @param name the owner name of the instance, by default {@code application@host:pid}
 * @param since when the one that has waited longest was first refused, by the database's clock
 * @param callers how many callers wait; brought up to date about three times a second
 */
public record WaitingInstance(long instance, String name, Instant since, int callers) {}
