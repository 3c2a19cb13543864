package io.dbsemaphore.domain;

import java.util.Map;
import java.util.Optional;

/**
 * A request that was released because its holder is gone.
 *
 * @param permits the number of permits that it held, by semaphore
 * @param deadInstance the dead instance that kept it alive; empty if it was reclaimed for another reason
 */
public record ReclaimedRequest(String externalId, Map<String, Integer> permits, Optional<DeadInstance> deadInstance) {

    public ReclaimedRequest {
        permits = Map.copyOf(permits);
    }
}
