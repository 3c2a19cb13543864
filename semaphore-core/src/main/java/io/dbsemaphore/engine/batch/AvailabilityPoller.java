package io.dbsemaphore.engine.batch;

import io.dbsemaphore.concurrent.BackOff;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.concurrent.Uninterruptibles;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.jdbc.DatabaseThreads;
import io.dbsemaphore.jdbc.ReleaseChannel;
import io.dbsemaphore.persistence.AvailabilityTransactions;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Polls the availability of all semaphores that callers of this JVM wait for, to find permits that other JVMs have released, and tells
 * other instances of callers that have left. A poll does not wait for locks of other transactions; only the acquire of a woken caller
 * does.
 *
 * <p>Polls run on a thread of the database, one at a time. They stop when no caller waits and the other instances know of all callers that
 * have left. From {@link #stop} on, a poll only deletes the records of this instance.
 */
final class AvailabilityPoller {

    private static final Logger log = LoggerFactory.getLogger(AvailabilityPoller.class);

    /** The shortest pause between a poll and the next one for a notification or {@link #pollNow}. */
    private static final Duration MIN_PAUSE = Duration.ofMillis(5);

    private static final Duration ORPHAN_INTERVAL = Duration.ofMillis(250);

    /** Records are hardly valid for longer, so that there is no use in waiting for their deletion. */
    private static final Duration MAX_WAIT_TO_FORGET = Duration.ofSeconds(1);

    private final WorkQueue queue;
    private final AvailabilityTransactions availabilityTransactions;
    private final DatabaseThreads threads;
    private final Runnable woken;
    private final @Nullable RemoteReleaseListener listener;
    /** Of the last stop: open when the records are deleted. */
    private volatile CountDownLatch forgotten = new CountDownLatch(1);

    private volatile boolean stopped;
    private volatile Deadline soonest = Deadline.in(MIN_PAUSE);
    private @Nullable ScheduledFuture<?> next;
    private boolean underWay;
    private boolean again;
    /** The number of polls since the back-off was reset. */
    private int polls;

    private Deadline nextForOrphans = Deadline.in(ORPHAN_INTERVAL);

    /**
     * Creates a poller.
     *
     * @param channel the channel on which instances notify one another of releases; null without notifications
     * @param woken runs when waiting callers were woken
     */
    AvailabilityPoller(
            WorkQueue queue,
            AvailabilityTransactions availabilityTransactions,
            DatabaseThreads threads,
            @Nullable ReleaseChannel channel,
            Runnable woken) {
        this.queue = queue;
        this.availabilityTransactions = availabilityTransactions;
        this.threads = threads;
        this.woken = woken;
        listener = channel == null ? null : new RemoteReleaseListener(channel, queue::needsPolls, this::notified);
    }

    /** Starts the thread that receives notifications. */
    void start(DaemonThreads factory) {
        if (listener != null) {
            factory.create("semaphore-listener", listener).start();
        }
    }

    /** Starts polling if that is needed: a caller waits, or other instances withhold permits for one that has left. */
    void begin() {
        if (!queue.needsPolls()) {
            return;
        }
        synchronized (this) {
            if (stopped) { // a batch in flight may have told others of a caller
                pollWithin(0);
            } else if (isIdle()) {
                pollWithin(nanosToNext());
            }
        }
        if (listener != null) {
            listener.begin();
        }
    }

    private boolean isIdle() {
        return next == null && !underWay;
    }

    private long nanosToNext() {
        return queue.pollAfter(BackOff.POLLING.after(++polls)).toNanos();
    }

    /** Handles the notification that another instance has released permits of these semaphores. */
    private void notified(Set<String> names) {
        WorkQueue.RemoteRelease release = queue.releasedElsewhere(names);
        if (release.woken()) {
            woken.run();
        }
        if (release.isPollDue()) {
            pollWithin(Math.max(0, soonest.remainingNanos())); // one that is overdue keeps its position
        }
    }

    /** Polls at once, since permits may have become available. */
    void pollNow() {
        if (queue.needsPolls()) {
            pollWithin(0);
        }
    }

    /** Makes the next poll begin within this time, or soon after a poll that is running. */
    private synchronized void pollWithin(long nanos) {
        if (underWay) {
            again = true;
        } else if (next == null || next.getDelay(TimeUnit.NANOSECONDS) > nanos) {
            if (next != null) {
                next.cancel(false);
            }
            next = threads.schedule(this::poll, nanos);
        }
    }

    /**
     * Ends the polls. Waits for a limited time until the records of this instance are deleted, since its connections will be closed. To be
     * called again when the batches in flight have ended, since they may have told others of a caller.
     *
     * @param recorded whether other instances may know of callers, even if none waits now
     */
    void stop(boolean recorded) {
        boolean forgets;
        CountDownLatch done = new CountDownLatch(1);
        synchronized (this) {
            forgotten = done;
            forgets = !isIdle() || (stopped ? queue.needsPolls() : recorded);
            stopped = true;
        }
        if (forgets) {
            pollWithin(0);
            boolean unused = Uninterruptibles.await(done, MAX_WAIT_TO_FORGET.toNanos());
        }
        if (listener != null) {
            listener.close();
        }
    }

    private void poll() {
        synchronized (this) {
            next = null;
            underWay = true;
        }
        try {
            if (stopped) {
                forgetAll();
            } else {
                pollAwaited();
            }
        } catch (RuntimeException failure) { // waiting callers have deadlines, and records expire
            log.debug("A poll of awaited semaphores has failed", failure);
        } finally {
            planNext();
        }
    }

    /** Plans the next poll. A caller that began to wait during the last one is in the line by now. */
    private synchronized void planNext() {
        boolean soon = again;
        again = false;
        underWay = false;
        soonest = Deadline.in(MIN_PAUSE);
        if (soon) {
            pollWithin(MIN_PAUSE.toNanos());
        } else if (!stopped && queue.needsPolls()) {
            pollWithin(nanosToNext());
        } else {
            polls = 0;
        }
    }

    /** Deletes the records of this instance, for which other instances would withhold permits until they expire. */
    private void forgetAll() {
        CountDownLatch done = forgotten; // before the records are read: a later stop needs another look
        WorkQueue.Poll last = queue.beginPoll(); // takes those that have departed
        try {
            availabilityTransactions.forgetAll(last.queues().instance());
        } finally {
            done.countDown();
        }
    }

    private void pollAwaited() {
        WorkQueue.Poll poll = queue.beginPoll();
        Set<String> names = poll.names();
        if (!poll.departed().isEmpty()) {
            forget(poll);
        }
        if (names.isEmpty()) {
            return;
        }
        long asOf = System.nanoTime();
        Map<String, RemainingAvailability> polled =
                availabilityTransactions.poll(names, poll.inFlight(), poll.queues());
        signalIf(queue.recordPoll(polled, asOf));
        if (nextForOrphans.isPassed()) { // last: this transaction may take long, or fail
            nextForOrphans = Deadline.in(ORPHAN_INTERVAL);
            signalIf(availabilityTransactions.isReclaimable(names) && queue.tryFirst(names));
        }
    }

    /** After a change, polls again at short intervals, and signals that callers may have been woken. */
    private void signalIf(boolean changed) {
        if (changed) {
            woken.run();
            synchronized (this) {
                polls = 0;
            }
        }
    }

    private void forget(WorkQueue.Poll poll) {
        try {
            availabilityTransactions.forget(poll.departed(), poll.queues().instance());
        } catch (RuntimeException failure) {
            queue.recordDeparted(poll.departed());
            throw failure;
        }
    }
}
