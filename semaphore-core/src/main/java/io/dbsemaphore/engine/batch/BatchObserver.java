package io.dbsemaphore.engine.batch;

import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.spi.SemaphoreListener;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** Observes the batches of this JVM. Called without the lock of the queue. */
public interface BatchObserver {

    /** Called when callers may have begun to wait for these semaphores. */
    void waiting(Set<String> names);

    /** Called after a commit, with the availability that it left, by the names of the semaphores. */
    void committed(Map<String, RemainingAvailability> availability);

    /** Tells the listeners of the application an event. */
    void tell(Consumer<SemaphoreListener> event);
}
