package io.dbsemaphore.persistence;

import java.util.List;

/**
 * What one transaction did.
 *
 * @param outcomes of the orders, in their order
 * @param takenBack the requests that were taken back to make room
 */
public record GrantResult(List<GrantOutcome> outcomes, List<TakenBack> takenBack) {}
