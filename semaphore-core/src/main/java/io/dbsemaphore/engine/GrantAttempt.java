package io.dbsemaphore.engine;

import io.dbsemaphore.persistence.GrantOutcome;
import io.dbsemaphore.persistence.GrantResult;
import io.dbsemaphore.persistence.GrantRound;
import io.dbsemaphore.persistence.GrantTransaction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** One transaction that grants, and what goes with it. */
final class GrantAttempt {

    private final GrantTransaction grants;
    private final LongSupplier keepAlive;
    private final Listeners listeners;

    /**
     * Makes an attempt.
     *
     * @param keepAlive makes sure that a grant can be kept alive; returns how often the heartbeat has lapsed
     */
    GrantAttempt(GrantTransaction grants, LongSupplier keepAlive, Listeners listeners) {
        this.grants = grants;
        this.keepAlive = keepAlive;
        this.listeners = listeners;
    }

    /**
     * Makes sure that something can be kept alive, before it is granted.
     *
     * @return how many lapses of the heartbeat there were
     */
    long prepareKept() {
        return keepAlive.getAsLong();
    }

    GrantResult run(Supplier<GrantRound> round) {
        return grants.grant(round);
    }

    /** Tells what was taken back and decided; to be called when nobody waits for the caller any more. */
    void tell(GrantResult result) {
        DeadInstanceLog.warn(result.takenBack());
        result.takenBack()
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
