package io.dbsemaphore.engine.batch;

import io.dbsemaphore.concurrent.Monitor;
import io.dbsemaphore.domain.FairQueuing;
import io.dbsemaphore.domain.LocalQueues;
import io.dbsemaphore.domain.PolledAvailability;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** The waiting callers of this JVM, as its availability poller sees them. Thread-safe. */
final class PolledWaiters {

    private final Monitor lock;
    private final InFlightNames inFlight;
    private final WaitQueues waitQueues;
    private final FairQueuing fairQueuing;
    private final Predicate<Collection<String>> wake;

    /**
     * Creates a view.
     *
     * @param lock that guards the other arguments
     * @param wake moves the waiters of these semaphores that can be served to the ready queue, and returns whether there were any
     */
    PolledWaiters(
            Monitor lock,
            InFlightNames inFlight,
            WaitQueues waitQueues,
            FairQueuing fairQueuing,
            Predicate<Collection<String>> wake) {
        this.lock = lock;
        this.inFlight = inFlight;
        this.waitQueues = waitQueues;
        this.fairQueuing = fairQueuing;
        this.wake = wake;
    }

    /**
     * What a poll is about.
     *
     * @param names the semaphores that callers wait for
     * @param inFlight those of them with a batch in flight, which tells other instances who waits
     * @param queues the callers
     * @param departed the semaphores that callers have left since the last poll, and nobody waits for
     */
    record Poll(Set<String> names, Set<String> inFlight, LocalQueues queues, Set<String> departed) {}

    Poll begin() {
        return lock.get(() -> {
            Set<String> names = waitQueues.names();
            Set<String> inFlightNames = new HashSet<>(names);
            inFlightNames.removeIf(name -> !inFlight.blocks(name));
            // a batch in flight may be about to tell other instances of a new caller
            Set<String> departed = new HashSet<>(waitQueues.takeDeparted(name -> !inFlight.blocks(name)));
            departed.removeAll(names);
            departed.removeIf(name -> !fairQueuing.isFair().test(name));
            return new Poll(names, inFlightNames, fairQueuing.queues(names, waitQueues.local(names)), departed);
        });
    }

    /** Records again that callers have left these semaphores, since other instances were not told. */
    void recordDeparted(Collection<String> names) {
        lock.run(() -> waitQueues.recordDeparted(names));
    }

    /** Whether no caller waits, and other instances know that. */
    boolean isEmpty() {
        return lock.is(() -> waitQueues.isEmpty() && !waitQueues.hasDeparted());
    }

    /**
     * Another instance has released permits of these semaphores. Wakes the first waiter of each that one permit suffices for, which
     * saves a poll. Returns whether one was woken.
     */
    boolean wakeIfServedByOne(Collection<String> names) {
        return lock.is(() -> {
            Set<String> idle = new HashSet<>(names);
            idle.removeIf(name -> inFlight.blocks(name) || !waitQueues.isServedByOnePermit(name));
            idle.forEach(waitQueues::wakeFirst);
            return wake.test(idle);
        });
    }

    /** Whether callers of this instance are, or are about to be, next for one of these semaphores. */
    boolean isTurnNear(Collection<String> names) {
        return lock.is(() -> names.stream().anyMatch(waitQueues::isTurnNear));
    }

    long instance() {
        return fairQueuing.instance();
    }

    /**
     * Records what the poller has read. Semaphores with a batch in flight are left out: the batch reports what it leaves
     * available. Where other instances do not know that callers of this one wait, the first is tried, and registered by that.
     *
     * @param asOf this JVM's monotonic clock before the database was asked
     * @return whether a waiter was woken
     */
    boolean recordPoll(Map<String, PolledAvailability> polled, long asOf) {
        return lock.is(() -> {
            Set<String> idle = new HashSet<>(polled.keySet());
            idle.removeIf(inFlight::blocks);
            polled.forEach((name, seen) -> {
                if (idle.contains(name)) {
                    waitQueues.recordPoll(name, seen, asOf);
                    if (!seen.isRegistered()) {
                        waitQueues.wakeFirst(name);
                    }
                }
            });
            return wake.test(idle);
        });
    }

    /** Wakes the first waiter of each semaphore, since its acquire may reclaim expired permits. Returns whether one was woken. */
    boolean wakeFirst(Collection<String> names) {
        return lock.is(() -> {
            names.forEach(waitQueues::wakeFirst);
            return wake.test(names);
        });
    }

    /** Whether another instance was granted permits that callers of this one wait for, since the last call. */
    boolean takeGrantedElsewhere() {
        return lock.is(waitQueues::takeGrantedElsewhere);
    }

    /** See {@link WaitQueues#pollAfter}; the shortest for all semaphores. */
    Duration pollAfter(Duration backOff) {
        return lock.get(() -> waitQueues.pollAfter(backOff));
    }
}
