package io.dbsemaphore.engine.batch;

import io.dbsemaphore.domain.RemainingAvailability;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * How many permits this JVM knows to be available of the semaphores that somebody waits for: what a batch has left or the
 * poller has read, with what was released and what was promised to woken callers since.
 */
final class ModelAvailability {

    private final Map<String, Long> known = new HashMap<>();
    private final Map<String, Long> changedAt = new HashMap<>();

    long of(String name) {
        return known.getOrDefault(name, Long.MIN_VALUE);
    }

    void changed(String name, long permits, long now) {
        known.computeIfPresent(name, (each, before) -> before + permits);
        changedAt.put(name, now);
    }

    /**
     * A batch has ended.
     *
     * @param changed what was released since the batch began, less what was promised
     */
    void left(String name, RemainingAvailability left, long changed, long now) {
        known.put(name, left.available() + changed);
        changedAt.put(name, now);
    }

    /** Returns whether it is news. */
    boolean polled(String name, RemainingAvailability polled, long promised, long asOf) {
        boolean isNews = changedAt.getOrDefault(name, asOf) - asOf < 0;
        if (isNews) {
            known.put(name, polled.available() - promised);
        }
        return isNews;
    }

    void raise(String name, long permits) {
        known.merge(name, permits, Math::max);
    }

    void keepOnly(Set<String> awaited) {
        known.keySet().retainAll(awaited);
        changedAt.keySet().retainAll(awaited);
    }
}
