package io.dbsemaphore.domain;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The result of one committed batch.
 *
 * @param outcomes of the acquires, in the order of the batch
 * @param availability the availability afterwards of the semaphores whose rows were locked, by name
 * @param reclaimed the requests whose permits were reclaimed
 * @param released the ids of the requests that were released; the others were released before, or are locked by another
 *     transaction
 */
public record BatchResult(
        List<GrantOutcome> outcomes,
        Map<String, RemainingAvailability> availability,
        List<ReclaimedRequest> reclaimed,
        Set<Long> released) {}
