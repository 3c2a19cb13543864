package io.dbsemaphore.domain;

import java.util.Map;
import java.util.Optional;

/**
 * A request that was released because its holder is gone.
 *
 * @param permits how many of each semaphore it held
 * @param deadInstance the instance that kept it alive, where that is the reason
 */
public record ReclaimedRequest(String externalId, Map<String, Integer> permits, Optional<DeadInstance> deadInstance) {

    /** Copies the permits. */
    public ReclaimedRequest {
        permits = Map.copyOf(permits);
    }
}
