package io.dbsemaphore.engine.batch;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.UnexpectedErrors;
import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.engine.support.PollingBackOff;
import io.dbsemaphore.persistence.AvailabilityTransactions;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.backoff.BackOffExecution;

/**
 * Looks now and then, for everybody who waits in this JVM at once, whether other JVMs have made room. No lock of a row is
 * taken for that, only by whoever is called then. One thread, which exists while somebody waits.
 */
final class AvailabilityPoller implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(AvailabilityPoller.class);

    private static final Duration ORPHANS_EVERY = Duration.ofMillis(250);

    /** Between two looks while other JVMs are granted what is waited for: shorter than they {@link HandoverPauses pause}. */
    private static final Duration TURNOVER = Duration.ofMillis(30);

    private final PolledWaiters waiters;
    private final AvailabilityTransactions availabilityTransactions;
    private final DaemonThreads threads;
    private final Runnable woken;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition news = lock.newCondition();
    private boolean running;
    private BackOffExecution pauses = PollingBackOff.begin();
    private Deadline nextForOrphans = Deadline.in(ORPHANS_EVERY);
    private boolean lookNow;
    private boolean closed;

    /**
     * Makes a watch.
     *
     * @param woken runs when somebody has been called from a line
     */
    AvailabilityPoller(
            PolledWaiters waiters,
            AvailabilityTransactions availabilityTransactions,
            DaemonThreads threads,
            Runnable woken) {
        this.waiters = waiters;
        this.availabilityTransactions = availabilityTransactions;
        this.threads = threads;
        this.woken = woken;
    }

    /** Somebody has begun to wait. */
    void begin() {
        lock.lock();
        try {
            if (!running && !closed) {
                pauses = PollingBackOff.begin();
                threads.start("semaphore-watch", this::run);
                running = true;
            }
        } finally {
            lock.unlock();
        }
    }

    /** Waiters may have to be woken sooner than was known. */
    void reconsider() {
        lock.lock();
        try {
            news.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** There may be room. */
    void lookNow() {
        lock.lock();
        try {
            lookNow = true;
            news.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            news.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        boolean goesOn = true;
        while (goesOn) {
            try {
                goesOn = pause();
                if (goesOn) {
                    look();
                }
            } catch (RuntimeException failure) { // those who wait have deadlines of their own
                log.debug("It could not be seen whether there is room for those who wait; tried again", failure);
            } catch (Throwable failure) {
                UnexpectedErrors.survive(log, "The watch for room", failure);
            }
        }
    }

    private void look() {
        if (waiters.endPauses()) { // before all that may fail: until then the next look is due at once
            woken.run();
        }
        Set<String> names = waiters.names();
        if (names.isEmpty()) {
            return;
        }
        long asOf = System.nanoTime();
        boolean somebody = waiters.free(availabilityTransactions.findFree(names), asOf);
        if (nextForOrphans.isPassed()) {
            nextForOrphans = Deadline.in(ORPHANS_EVERY);
            somebody |= availabilityTransactions.isSomethingOrphaned(names) && waiters.wakeFirst(names);
        }
        if (somebody) {
            woken.run();
            restart();
        }
        List<String> unheard = waiters.toBeAnnounced();
        if (!unheard.isEmpty()) {
            waiters.announced(availabilityTransactions.raiseFences(unheard, HandoverPauses.ANNOUNCEMENT));
        }
    }

    private void restart() {
        lock.lock();
        try {
            pauses = PollingBackOff.begin();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until the next look; false when nobody waits any more. */
    private boolean pause() {
        lock.lock();
        try {
            Deadline next = Deadline.in(pauseBeforeNextLook());
            for (long nanos = nanosTo(next); !closed && !lookNow && nanos > 0; nanos = nanosTo(next)) {
                await(nanos);
            }
            lookNow = false;
            if (closed || !waiters.isAny()) {
                running = false;
                return false;
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    private Duration pauseBeforeNextLook() {
        Duration pause = Duration.ofMillis(pauses.nextBackOff());
        return pause.compareTo(TURNOVER) > 0 && waiters.isTurnover() ? TURNOVER : pause;
    }

    private long nanosTo(Deadline next) {
        return Math.min(next.remainingNanos(), waiters.nanosToPauseEnd());
    }

    /** The caller looks again. */
    @SuppressWarnings("WaitNotInLoop")
    private void await(long nanos) {
        try {
            long unused = news.awaitNanos(nanos);
        } catch (InterruptedException nobodyMayEndThisThread) {
            log.debug("The thread goes on although it was interrupted", nobodyMayEndThisThread);
        }
    }
}
