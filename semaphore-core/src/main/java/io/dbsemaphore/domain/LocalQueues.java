package io.dbsemaphore.domain;

import java.util.Map;
import java.util.function.Predicate;

/**
 * How this instance takes part in the order of all instances' callers, and its callers that wait.
 *
 * @param instance the id of this instance
 * @param owner the name of this instance
 * @param fair tells the semaphores whose permits are granted in that order
 * @param waiting the callers that wait, by semaphore; semaphores that nobody waits for are missing
 */
public record LocalQueues(long instance, String owner, Predicate<String> fair, Map<String, LocalQueue> waiting) {

    public LocalQueues {
        waiting = Map.copyOf(waiting);
    }

    /** This instance, while nobody waits. */
    public LocalQueues(long instance, String owner, Predicate<String> fair) {
        this(instance, owner, fair, Map.of());
    }

    public LocalQueues with(Map<String, LocalQueue> callers) {
        return new LocalQueues(instance, owner, fair, callers);
    }

    public boolean isFair(String name) {
        return fair.test(name);
    }

    public LocalQueue of(String name) {
        return waiting.getOrDefault(name, LocalQueue.EMPTY);
    }
}
