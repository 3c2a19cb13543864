package io.dbsemaphore.engine.batch;

import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.engine.hold.InstanceLease;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** How orders come to their outcome. */
public interface Granter extends AutoCloseable {

    /**
     * What became of an order.
     *
     * @param asOf this JVM's clock before the transaction that decided it
     * @param epoch of the heartbeat before that, see {@link InstanceLease#epoch}
     */
    record Answer(GrantOutcome outcome, long asOf, long epoch) {}

    /** An order for whose answer no thread waits. */
    interface Submission {

        /**
         * Completed as {@link #grant} returns or throws, or with a {@link java.util.concurrent.CancellationException} once
         * withdrawn; on a thread of the engine, which must not be kept.
         */
        CompletableFuture<Answer> answer();

        /** Its caller has lost interest: it leaves the queue, unless something is being written for it. */
        void withdraw();
    }

    /** Does what {@link #grant} does, without waiting for the answer. */
    Submission submit(AcquireCommand command, WaitTime wait);

    /**
     * Grants the order, as soon as there is room within its time to wait.
     *
     * @param wait how long to wait for room; an order that need not wait is tried once
     * @return granted, refused or rejected
     * @throws io.dbsemaphore.AcquireInterruptedException when interrupted while it was not being decided; nothing is held
     * @throws io.dbsemaphore.SemaphoreClosedException when closed
     * @throws RuntimeException when it failed. Something may be held only if the order says that its
     *     {@linkplain AcquireCommand#isOutcomeUnknown() fate is unknown}
     */
    Answer grant(AcquireCommand command, WaitTime wait);

    /**
     * Whether a transaction that grants is about to take releases of these semaphores along, which costs nobody anything:
     * then they are better handed in for that than done by themselves.
     */
    boolean acceptsReleases(Set<String> names);

    /** Permits of these semaphores are handed in to be released along with the next grants. */
    void releasing(Map<String, Integer> permits);

    /** Permits of these semaphores were released by this JVM. */
    void released(Map<String, Integer> permits);

    /** Permits of any semaphore may have become free. */
    void lookAgain();

    /** Ends every wait. */
    @Override
    void close();
}
