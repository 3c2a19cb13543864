package io.dbsemaphore;

/**
 * A request whose permits were released by force.
 *
 * @param externalId the external id of the request
 * @param owner the owner of the request
 * @param permits how many permits of the semaphore it held
 */
public record ForcedRelease(String externalId, String owner, int permits) {}
