package io.dbsemaphore.boot.metrics;

import io.dbsemaphore.AcquireRequest;
import org.jspecify.annotations.Nullable;

/** Measures or observes acquires. */
interface AcquireInstrument {

    /** Returns what follows one acquire from its start to its end. */
    Watch watch(AcquireRequest request);

    /** Follows one acquire. {@link InstrumentedPermitManager} logs exceptions of its methods; the acquire is not affected. */
    interface Watch {

        /** The acquire begins. */
        void start();

        /** Called on the thread on which the acquire runs until its end; not called for an asynchronous acquire. */
        default void openScope() {}

        /**
         * The acquire has ended. Called on any thread if it was asynchronous.
         *
         * @param outcome one of the outcomes of {@link SemaphoreMetrics}
         * @param failure what it threw
         */
        void stop(String outcome, @Nullable Throwable failure);
    }
}
