package io.dbsemaphore.boot.metrics;

import io.dbsemaphore.AcquireRequest;
import org.jspecify.annotations.Nullable;

/** Measures or observes acquires. */
interface AcquireInstrument {

    /** Returns what follows one acquire from its start to its end. */
    Watch watch(AcquireRequest request);

    /** Follows one acquire. What its methods throw is logged by {@link InstrumentedPermitManager}, and changes nothing. */
    interface Watch {

        /** The acquire begins. */
        void start();

        /** It runs on this thread until it is over; not called for an asynchronous acquire. */
        default void openScope() {}

        /**
         * It is over; on any thread where it was asynchronous.
         *
         * @param outcome one of the outcomes of {@link SemaphoreMetrics}
         * @param failure what it threw
         */
        void stop(String outcome, @Nullable Throwable failure);
    }
}
