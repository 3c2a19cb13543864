package io.dbsemaphore.domain;

import java.util.Map;
import java.util.Set;

/**
 * What a transaction needs to know of the callers of this instance that wait.
 *
 * @param instance the id of this instance
 * @param owner the name of this instance
 * @param fair the semaphores whose permits are granted in the order of all instances' callers
 * @param waiting the callers that wait, by semaphore; semaphores that nobody waits for are missing
 */
public record LocalQueues(long instance, String owner, Set<String> fair, Map<String, LocalQueue> waiting) {

    public LocalQueues {
        fair = Set.copyOf(fair);
        waiting = Map.copyOf(waiting);
    }

    public boolean isFair(String name) {
        return fair.contains(name);
    }

    public LocalQueue of(String name) {
        return waiting.getOrDefault(name, LocalQueue.EMPTY);
    }
}
