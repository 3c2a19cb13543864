package io.dbsemaphore.engine.batch;

import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.engine.support.DeadInstanceLog;
import io.dbsemaphore.engine.support.ListenerNotifier;

/** Notifies listeners of batches. Must not be called under a lock, since listeners are code of the application. */
final class BatchEvents {

    private final ListenerNotifier listeners;

    BatchEvents(ListenerNotifier listeners) {
        this.listeners = listeners;
    }

    /** Notifies of a committed batch. To be called after its callers have their answers. */
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

    /** Notifies of a batch that has failed and is tried again. */
    void retried(Throwable failure) {
        listeners.tell(listener -> listener.retried(failure));
    }
}
