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
 * @param released the outcomes of the releases, by request id. Omits requests that another transaction has locked; in a batch with
 *     acquires, also those that were released before
 * @param answeredAt this JVM's monotonic clock when the held permits, on which the decision is based, were read
 */
public record BatchResult(
        List<GrantOutcome> outcomes,
        Map<String, RemainingAvailability> availability,
        List<ReclaimedRequest> reclaimed,
        Map<Long, ReleaseOutcome> released,
        long answeredAt) {}
