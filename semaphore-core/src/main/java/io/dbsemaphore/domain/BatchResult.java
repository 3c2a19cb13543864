package io.dbsemaphore.domain;

import io.dbsemaphore.ReleaseOutcome;
import java.util.List;
import java.util.Map;

/**
 * The result of one committed batch.
 *
 * @param outcomes of the acquires, in the order of the batch
 * @param availability the availability afterwards of the semaphores whose rows were locked, by name
 * @param reclaimed the requests whose permits were reclaimed
 * @param released what became of the requests to release, by their ids; without those that another transaction has locked, and in a
 *     batch with acquires, without those that were released before
 */
public record BatchResult(
        List<GrantOutcome> outcomes,
        Map<String, RemainingAvailability> availability,
        List<ReclaimedRequest> reclaimed,
        Map<Long, ReleaseOutcome> released) {}
