package io.dbsemaphore.domain;

import io.dbsemaphore.ReleaseOutcome;
import java.util.List;
import java.util.Map;

/**
 * The result of one committed batch.
 *
 * @param outcomes the outcomes of the acquires, in the order of the batch
 * @param availability the resulting availability of the semaphores whose rows were locked, by name
 * @param reclaimed the requests whose permits were reclaimed
 * @param released the outcomes of the releases, by the ids of their requests; without requests that another transaction has locked, and in
 *     a batch with acquires, without those that were released before
 * @param answeredAt this JVM's monotonic clock when the held permits were read, from which the decision follows
 */
public record BatchResult(
        List<GrantOutcome> outcomes,
        Map<String, RemainingAvailability> availability,
        List<ReclaimedRequest> reclaimed,
        Map<Long, ReleaseOutcome> released,
        long answeredAt) {}
