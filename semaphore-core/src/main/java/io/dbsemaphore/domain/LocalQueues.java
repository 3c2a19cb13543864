package io.dbsemaphore.domain;

import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * How this instance takes part in the order of all instances' callers, and its callers that wait.
 *
 * @param id the id of this instance, which changes if that turns out to be a copy of another one
 * @param owner the name of this instance
 * @param fair tells the semaphores whose permits are granted in that order
 * @param waiting the callers that wait, by semaphore; semaphores that nobody waits for are missing
 */
public record LocalQueues(LongSupplier id, String owner, Predicate<String> fair, Map<String, LocalQueue> waiting) {

    public LocalQueues {
        waiting = Map.copyOf(waiting);
    }

    /** This instance, while nobody waits. */
    public LocalQueues(LongSupplier id, String owner, Predicate<String> fair) {
        this(id, owner, fair, Map.of());
    }

    public LocalQueues with(Map<String, LocalQueue> callers) {
        return new LocalQueues(id, owner, fair, callers);
    }

    public long instance() {
        return id.getAsLong();
    }

    public boolean isFair(String name) {
        return fair.test(name);
    }

    public LocalQueue of(String name) {
        return waiting.getOrDefault(name, LocalQueue.EMPTY);
    }
}
