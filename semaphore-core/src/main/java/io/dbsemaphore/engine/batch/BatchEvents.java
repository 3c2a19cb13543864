package io.dbsemaphore.engine.batch;

import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.engine.support.DeadInstanceLog;
import io.dbsemaphore.engine.support.ListenerNotifier;

/** Tells listeners about batches. Never under a lock: listeners are code of the application. */
final class BatchEvents {

    private final ListenerNotifier listeners;

    BatchEvents(ListenerNotifier listeners) {
        this.listeners = listeners;
    }

    /** A batch was committed; to be told after its callers have their answers. */
    void committed(BatchResult result) {
        DeadInstanceLog.warn(result.reclaimed());
        result.reclaimed()
                .forEach(each -> listeners.tell(listener -> listener.expired(each.externalId(), each.permits())));
        int decided = (int) result.outcomes().stream()
                .filter(outcome ->
                        !(outcome instanceof GrantOutcome.Postponed) && !(outcome instanceof GrantOutcome.Withdrawn))
                .count();
        if (decided > 0) {
            listeners.tell(listener -> listener.decided(decided));
        }
    }

    /** A batch has failed and is tried again. */
    void retried(Throwable failure) {
        listeners.tell(listener -> listener.retried(failure));
    }
}
