package io.dbsemaphore.domain;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What one transaction did.
 *
 * @param outcomes of the orders, in their order
 * @param availability what is free afterwards of the semaphores whose rows were locked, by name
 * @param reclaimed the requests that were taken back to make room
 * @param released the keys of the requests that were released as wished; the others are released already, or locked
 */
public record BatchResult(
        List<GrantOutcome> outcomes,
        Map<String, RemainingAvailability> availability,
        List<ReclaimedRequest> reclaimed,
        Set<Long> released) {}
