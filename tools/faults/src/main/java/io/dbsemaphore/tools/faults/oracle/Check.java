package io.dbsemaphore.tools.faults.oracle;

import org.jspecify.annotations.Nullable;

/** Looks for one kind of contradiction to the promises of the library. Called by one thread at a time. */
interface Check {

    /**
     * Considers an event.
     *
     * @param hold what is known of the request, this event included; null for attacks
     */
    default void accept(Event event, @Nullable Hold hold) {}

    /** Considers a request about which nothing more is heard. */
    default void ended(Hold hold) {}

    /** Considers that the run has ended. */
    default void finish() {}
}
