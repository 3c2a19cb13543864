package io.dbsemaphore.persistence;

import java.util.Map;

/**
 * A request that was released because its holder is gone.
 *
 * @param permits how many of each semaphore it held
 */
public record TakenBack(String externalId, Map<String, Integer> permits) {

    /** Copies the permits. */
    public TakenBack {
        permits = Map.copyOf(permits);
    }
}
