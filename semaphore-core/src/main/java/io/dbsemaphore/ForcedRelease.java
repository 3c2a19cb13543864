package io.dbsemaphore;

/**
 * The request whose permits were released by force.
 *
 * @param externalId its id
 * @param owner its owner
 * @param permits how many permits of the semaphore it held
 */
public record ForcedRelease(String externalId, String owner, int permits) {}
