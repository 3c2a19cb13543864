package io.dbsemaphore.engine.batch;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.engine.batch.Acquire.Stage;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Takes acquires out of the queues before they are granted: for a last attempt when the wait time has ended, and for good when
 * the caller no longer waits. Guarded by the lock of the {@link GrantQueue}.
 *
 * <p>Given up: its caller gets no decision; if it is in a batch, it is withdrawn from it first. Abandoned: its caller left during the decision, and a grant is undone. Withdrawn:
 * nothing is written for it.
 */
final class AcquireRemoval {

    /**
     * The maximum number of acquires of the same semaphores that are tried once more at their deadline. With more of them, the
     * last would have to wait for a batch after the next, and be answered too late.
     */
    static final int MAX_LAST_ATTEMPTS = 500;

    private final ReadyQueue ready;
    private final WaitQueues waitQueues;
    private final Predicate<Collection<String>> wake;
    private final QueueClock clock;

    /**
     * Removes from these queues.
     *
     * @param wake moves the waiters of these semaphores that can be served to the ready queue, and returns whether there were any
     */
    AcquireRemoval(ReadyQueue ready, WaitQueues waitQueues, Predicate<Collection<String>> wake, QueueClock clock) {
        this.ready = ready;
        this.waitQueues = waitQueues;
        this.wake = wake;
        this.clock = clock;
    }

    /**
     * Ends the wait: the acquire is tried once more. It is given up with the latest numbers instead where
     * {@linkplain #MAX_LAST_ATTEMPTS too many} are being tried.
     *
     * @return whether the acquire is going to be decided
     */
    boolean tryOnceMore(Acquire acquire) {
        acquire.setWillingToWait(false);
        boolean isReady = acquire.stage() == Stage.READY;
        if (isReady) {
            ready.remove(acquire);
        }
        acquire.pauseUntil(clock.in(Duration.ZERO));
        if (isReady) {
            ready.add(acquire);
        } else if (acquire.stage() == Stage.WAIT_QUEUE) {
            List<PermitShortage> latest = waitQueues.shortages(acquire);
            removeFromWaitQueues(acquire);
            if (!latest.isEmpty()) {
                acquire.refused(latest);
            }
            if (!latest.isEmpty() && ready.sizeOfGroup(acquire) >= MAX_LAST_ATTEMPTS) {
                departed(acquire);
                acquire.giveUp();
            } else {
                ready.add(acquire);
            }
        }
        return !acquire.isGivenUp();
    }

    /**
     * Gives an acquire up. From now on it does not wait for permits: if it is refused, it is answered.
     *
     * @return true when nothing is written for the acquire, now or later; false when it is answered, or being written
     */
    boolean giveUp(Acquire acquire) {
        acquire.setWillingToWait(false);
        if (acquire.stage() == Stage.DONE
                || (acquire.stage() == Stage.BATCH && !acquire.withdraw())) {
            return false;
        }
        ready.remove(acquire);
        acquire.setUnblocksOthers(acquire.stage() == Stage.READY);
        removeFromWaitQueues(acquire);
        departed(acquire);
        acquire.giveUp();
        return true;
    }

    /** Other instances may know of a caller that was refused. */
    private void departed(Acquire acquire) {
        if (acquire.wasRefused()) {
            waitQueues.recordDeparted(acquire.names());
        }
    }

    private void removeFromWaitQueues(Acquire acquire) {
        Set<String> names = Set.copyOf(acquire.shortOf().keySet());
        waitQueues.remove(acquire);
        acquire.setUnblocksOthers(wake.test(names));
    }
}
