package io.dbsemaphore.engine.batch;

import io.dbsemaphore.domain.PolledAvailability;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** The waiting callers of this JVM, as its availability poller sees them. Thread-safe. */
final class PolledWaiters {

    private final QueueLock lock;
    private final InFlightNames inFlight;
    private final WaitQueues waitQueues;
    private final HandoverPauses pauses;
    private final Predicate<Collection<String>> wake;

    /**
     * Makes a view.
     *
     * @param lock that guards the other arguments
     * @param wake moves the waiters of these semaphores that can be served to the ready queue, and returns whether there were any
     */
    PolledWaiters(
            QueueLock lock,
            InFlightNames inFlight,
            WaitQueues waitQueues,
            HandoverPauses pauses,
            Predicate<Collection<String>> wake) {
        this.lock = lock;
        this.inFlight = inFlight;
        this.waitQueues = waitQueues;
        this.pauses = pauses;
        this.wake = wake;
    }

    /** The semaphores that callers wait for. */
    Set<String> names() {
        return lock.get(waitQueues::names);
    }

    /** Whether no caller waits. */
    boolean isEmpty() {
        return lock.is(waitQueues::isEmpty);
    }

    /**
     * Records what the poller has read. Semaphores with a batch in flight are left out: the batch reports what it leaves
     * available.
     *
     * @param asOf this JVM's monotonic clock before the database was asked
     * @return whether a waiter was woken
     */
    boolean polled(Map<String, PolledAvailability> polled, long asOf) {
        return lock.is(() -> {
            Set<String> idle = new HashSet<>(polled.keySet());
            idle.removeIf(inFlight::contains);
            polled.forEach((name, seen) -> {
                if (idle.contains(name)) {
                    waitQueues.polled(name, seen, asOf);
                    pauses.polled(name, seen.fence(), asOf);
                }
            });
            return wake.test(idle);
        });
    }

    /** Removes the pauses that have ended. Returns whether a waiter was woken. */
    boolean endPauses() {
        return lock.is(() -> wake.test(pauses.end()));
    }

    /** Wakes the first waiter of each semaphore, since its acquire may reclaim expired permits. Returns whether one was woken. */
    boolean wakeFirst(Collection<String> names) {
        return lock.is(() -> {
            names.forEach(waitQueues::wakeFirst);
            return wake.test(names);
        });
    }

    /** The time until the first handover pause ends. */
    long nanosToPauseEnd() {
        return lock.get(pauses::nanosToEnd);
    }

    /** Whether other JVMs were recently granted permits that callers of this JVM wait for. */
    boolean isTurnover() {
        return lock.is(() -> pauses.isTurnover(waitQueues.names()));
    }

    /** The semaphores for which waiters of this JVM are to be announced to other JVMs. */
    List<String> toAnnounce() {
        return lock.get(() -> waitQueues.names().stream()
                .filter(name -> pauses.isAnnouncementDue(name) && waitQueues.isShort(name) && !pauses.isPaused(name))
                .toList());
    }

    /** Records the fences to which the announcements raised the semaphores. */
    void announced(Map<String, Long> fences) {
        lock.run(() -> fences.forEach(pauses::announced));
    }
}
