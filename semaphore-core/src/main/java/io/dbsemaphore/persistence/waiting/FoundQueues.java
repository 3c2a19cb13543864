package io.dbsemaphore.persistence.waiting;

import io.dbsemaphore.domain.InstanceQueue;
import io.dbsemaphore.domain.WaitersElsewhere;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The queues that a transaction has read, by semaphore. */
final class FoundQueues {

    private final long instance;
    private final Map<Long, List<InstanceQueue>> queues = new HashMap<>();

    FoundQueues(long instance) {
        this.instance = instance;
    }

    void add(List<InstanceQueue> found) {
        found.forEach(queue -> queues.computeIfAbsent(queue.semaphoreId(), id -> new ArrayList<>())
                .add(queue));
    }

    /** The queue of this instance. */
    Optional<InstanceQueue> own(long semaphoreId) {
        return of(semaphoreId).stream()
                .filter(queue -> queue.instance() == instance)
                .findFirst();
    }

    /** The callers of other instances that wait for a semaphore. */
    WaitersElsewhere elsewhere(long semaphoreId, LocalDateTime now) {
        return WaitersElsewhere.of(of(semaphoreId), instance, now);
    }

    private List<InstanceQueue> of(long semaphoreId) {
        return queues.getOrDefault(semaphoreId, List.of());
    }
}
