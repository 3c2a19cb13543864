package io.dbsemaphore.engine.batch;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.Monitor;
import io.dbsemaphore.concurrent.UnexpectedErrors;
import io.dbsemaphore.concurrent.Uninterruptibles;
import io.dbsemaphore.domain.PolledAvailability;
import io.dbsemaphore.engine.support.BackOff;
import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.jdbc.ReleaseChannel;
import io.dbsemaphore.persistence.AvailabilityTransactions;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Polls the availability of all semaphores that callers of this JVM wait for, to find permits that other JVMs have released, and tells
 * other instances of callers that have left. The poll locks no semaphore that another transaction has locked; only the acquire of a
 * woken caller waits for such locks.
 *
 * <p>One thread, from the start of the engine to its end, which does nothing while no caller waits. From {@link #stop} on it only deletes
 * the records of this instance.
 */
final class AvailabilityPoller implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(AvailabilityPoller.class);

    /** The shortest interval between two polls that notifications of other instances cause. */
    private static final Duration MIN_INTERVAL = Duration.ofMillis(5);

    private static final Duration ORPHAN_INTERVAL = Duration.ofMillis(250);

    /** Close to the validity of the records: after this time waiting for their deletion has little use. */
    private static final Duration MAX_WAIT_TO_FORGET = Duration.ofSeconds(1);

    private static final long UNTIL_WOKEN = Duration.ofHours(1).toNanos();

    private final WorkQueue queue;
    private final AvailabilityTransactions availabilityTransactions;
    private final Runnable woken;
    private final @Nullable RemoteReleaseListener listener;
    private final Monitor monitor = new Monitor();
    private final Semaphore forgotten = new Semaphore(0);
    /** Whether callers wait, or may have records in the database. */
    private volatile boolean needed;

    private volatile boolean pollNow;
    private volatile boolean notified;
    private volatile boolean stopped;
    private volatile boolean closed;
    /** The number of polls since something was found. Used by the thread only. */
    private int polls;

    private Deadline nextForOrphans = Deadline.in(ORPHAN_INTERVAL);

    /**
     * Creates a poller.
     *
     * @param channel on which instances notify one another of releases; null without notifications
     * @param woken runs when waiters were woken
     */
    AvailabilityPoller(
            WorkQueue queue,
            AvailabilityTransactions availabilityTransactions,
            @Nullable ReleaseChannel channel,
            Runnable woken) {
        this.queue = queue;
        this.availabilityTransactions = availabilityTransactions;
        this.woken = woken;
        listener = channel == null ? null : new RemoteReleaseListener(channel, queue::needsPolls, this::notified);
    }

    /** Starts the threads. */
    void start(DaemonThreads threads) {
        threads.start("semaphore-poller", this::run);
        if (listener != null) {
            threads.start("semaphore-listener", listener);
        }
    }

    /** Begins to poll, because a caller waits, or no longer waits, which other instances have to be told. */
    void begin() {
        if (!needed) {
            needed = true;
            monitor.wakeAll();
        }
        if (listener != null) {
            listener.begin();
        }
    }

    /** Another instance has released permits of these semaphores. */
    private void notified(Set<String> names) {
        if (queue.wakeIfServedByOne(names)) {
            woken.run();
        } else if (queue.isTurnNear(names)) {
            notified = true;
            monitor.wakeAll();
        }
    }

    /** Polls at once, since permits may have become available. */
    void pollNow() {
        pollNow = true;
        monitor.wakeAll();
    }

    /**
     * Ends the polls. Waits, for a bounded time, until the records of this instance are deleted: soon there are no connections left for
     * that.
     *
     * @param recorded whether other instances may know of callers, even if none waits any more
     */
    void stop(boolean recorded) {
        boolean forgets = monitor.is(() -> {
            boolean first = !stopped;
            stopped = true;
            needed |= first && recorded;
            monitor.wakeAll();
            return first && needed;
        });
        if (forgets) {
            boolean unused = Uninterruptibles.acquire(forgotten, MAX_WAIT_TO_FORGET.toNanos());
        }
        if (listener != null) {
            listener.close();
        }
    }

    /** Ends the thread. */
    @Override
    public void close() {
        closed = true;
        monitor.wakeAll();
    }

    private void run() {
        while (!closed) {
            try {
                monitor.run(this::awaitWork);
                if (!stopped) {
                    poll();
                } else if (needed) {
                    needed = false; // before the deletion: a batch that is still in flight may tell others of a caller
                    forgetAll();
                }
            } catch (RuntimeException failure) { // the waiting callers have deadlines of their own
                log.debug("The availability of awaited semaphores could not be polled; it is tried again", failure);
            } catch (Throwable failure) {
                UnexpectedErrors.survive(log, "The availability poller", failure);
            }
        }
    }

    /** Waits until the next poll is due, or there is something to delete, or the thread is to end. */
    private void awaitWork() {
        while (!closed && !isNeeded()) {
            polls = 0;
            monitor.await(UNTIL_WOKEN);
        }
        Deadline next = Deadline.in(queue.pollAfter(BackOff.POLLING.after(++polls)));
        Deadline soonest = Deadline.in(MIN_INTERVAL);
        long nanos = next.remainingNanos();
        while (!stopped && !pollNow && nanos > 0) {
            monitor.await(nanos);
            nanos = Math.min(next.remainingNanos(), notified ? soonest.remainingNanos() : Long.MAX_VALUE);
        }
        pollNow = false;
        notified = false;
    }

    private boolean isNeeded() {
        if (!stopped) {
            // before the look at the queue: who changes that afterwards, and finds this, wakes the thread
            needed = false;
            needed = queue.needsPolls();
        }
        return needed;
    }

    /** Deletes the records of this instance. Otherwise other instances would withhold permits until the records expire. */
    private void forgetAll() {
        try {
            availabilityTransactions.forgetAll(queue.instance());
        } catch (RuntimeException failure) {
            log.debug("The records of this instance's waiting callers were not deleted; they expire", failure);
        } finally {
            forgotten.release();
        }
    }

    private void poll() {
        WorkQueue.Poll poll = queue.beginPoll();
        Set<String> names = poll.names();
        if (!poll.departed().isEmpty()) {
            forget(poll);
        }
        if (names.isEmpty()) {
            return;
        }
        long asOf = System.nanoTime();
        Map<String, PolledAvailability> polled = availabilityTransactions.poll(names, poll.inFlight(), poll.queues());
        boolean anyWoken = queue.recordPoll(polled, asOf);
        if (nextForOrphans.isPassed()) {
            nextForOrphans = Deadline.in(ORPHAN_INTERVAL);
            anyWoken |= availabilityTransactions.isReclaimable(names) && queue.wakeFirst(names);
        }
        if (anyWoken) {
            woken.run();
        }
        if (queue.takeGrantedElsewhere() || anyWoken) {
            polls = 0;
        }
    }

    private void forget(WorkQueue.Poll poll) {
        try {
            availabilityTransactions.forget(poll.departed(), poll.queues().instance());
        } catch (RuntimeException | Error failure) {
            queue.recordDeparted(poll.departed());
            throw failure;
        }
    }
}
