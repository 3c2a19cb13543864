package io.dbsemaphore.domain;

import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * How this instance takes part in the order of all instances' callers.
 *
 * @param instance its id
 * @param owner its name
 * @param isFair the semaphores for which it does
 */
public record FairQueuing(long instance, String owner, Predicate<String> isFair) {

    /** What a transaction on these semaphores needs to know. */
    public LocalQueues queues(Collection<String> names, Map<String, LocalQueue> waiting) {
        Set<String> fair = names.stream().filter(isFair).collect(Collectors.toUnmodifiableSet());
        return new LocalQueues(instance, owner, fair, waiting);
    }
}
