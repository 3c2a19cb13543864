package io.dbsemaphore;

import java.util.List;

/** The outcome of an acquire. That permits are not available is a value, not an exception. */
public sealed interface AcquireResult {

    /**
     * The permits are held.
     *
     * @param grant the grant
     */
    record Granted(PermitGrant grant) implements AcquireResult {}

    /**
     * The permits did not become available within the wait time; nothing is held.
     *
     * @param shortages the semaphores without enough available permits
     */
    record Unavailable(List<PermitShortage> shortages) implements AcquireResult {

        /**
         * Copies the list.
         *
         * @param shortages the semaphores without enough available permits
         */
        public Unavailable {
            shortages = List.copyOf(shortages);
        }
    }
}
