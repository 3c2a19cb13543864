package io.dbsemaphore.engine.batch;

import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantBatch;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.engine.support.DeadInstanceLog;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.persistence.GrantTransaction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** One transaction that grants, and what goes with it. */
public final class BatchTransaction {

    private final GrantTransaction grants;
    private final LongSupplier keepAlive;
    private final ListenerNotifier listeners;

    /**
     * Makes an attempt.
     *
     * @param keepAlive makes sure that a grant can be kept alive; returns how often the heartbeat has lapsed
     */
    public BatchTransaction(GrantTransaction grants, LongSupplier keepAlive, ListenerNotifier listeners) {
        this.grants = grants;
        this.keepAlive = keepAlive;
        this.listeners = listeners;
    }

    /**
     * Makes sure that something can be kept alive, before it is granted.
     *
     * @return how many lapses of the heartbeat there were
     */
    long prepareKeepAlive() {
        return keepAlive.getAsLong();
    }

    BatchResult run(Supplier<GrantBatch> batch) {
        return grants.grant(batch);
    }

    /** Tells what was taken back and decided; to be called when nobody waits for the caller any more. */
    void tell(BatchResult result) {
        DeadInstanceLog.warn(result.reclaimed());
        result.reclaimed()
                .forEach(taken -> listeners.tell(listener -> listener.expired(taken.externalId(), taken.permits())));
        int decided = (int) result.outcomes().stream()
                .filter(outcome ->
                        !(outcome instanceof GrantOutcome.Postponed) && !(outcome instanceof GrantOutcome.Withdrawn))
                .count();
        if (decided > 0) {
            listeners.tell(listener -> listener.decided(decided));
        }
    }

    /** Tells that what failed is tried again. Never under a lock: listeners are the host's code. */
    void tellRetried(Throwable failure) {
        listeners.tell(listener -> listener.retried(failure));
    }
}
