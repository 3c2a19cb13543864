package io.dbsemaphore.engine.batch;

import io.dbsemaphore.domain.PolledAvailability;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** Those who wait in this JVM, as its availability poller sees them. Any thread may call it. */
final class PolledWaiters {

    private final QueueLock guard;
    private final InFlightNames inFlight;
    private final WaitQueues waitQueues;
    private final HandoverPauses pauses;
    private final Predicate<Collection<String>> wake;

    /**
     * Makes a view.
     *
     * @param guard what guards all of these
     * @param wake wakes those whose turn it is at these semaphores, and tells whether there are any
     */
    PolledWaiters(
            QueueLock guard,
            InFlightNames inFlight,
            WaitQueues waitQueues,
            HandoverPauses pauses,
            Predicate<Collection<String>> wake) {
        this.guard = guard;
        this.inFlight = inFlight;
        this.waitQueues = waitQueues;
        this.pauses = pauses;
        this.wake = wake;
    }

    /** The names that somebody waits for. */
    Set<String> names() {
        return guard.get(waitQueues::names);
    }

    /** Whether somebody waits. */
    boolean isAny() {
        return guard.is(() -> !waitQueues.isEmpty());
    }

    /**
     * So much was free. Returns whether it is somebody's turn. What a batch in flight grants, or has released, is not in
     * these numbers; it will tell what it leaves.
     *
     * @param asOf this JVM's clock before the database was asked
     */
    boolean free(Map<String, PolledAvailability> polled, long asOf) {
        return guard.is(() -> {
            Set<String> quiet = new HashSet<>(polled.keySet());
            quiet.removeIf(inFlight::contains);
            polled.forEach((name, seen) -> {
                if (quiet.contains(name)) {
                    waitQueues.polled(name, seen, asOf);
                    pauses.polled(name, seen.fence(), asOf);
                }
            });
            return wake.test(quiet);
        });
    }

    /** Ends the pauses that are over. Returns whether it is somebody's turn. */
    boolean endPauses() {
        return guard.is(() -> wake.test(pauses.end()));
    }

    /** Something may be taken back from somebody who is gone. Returns whether it is somebody's turn. */
    boolean wakeFirst(Collection<String> names) {
        return guard.is(() -> {
            names.forEach(waitQueues::wakeFirst);
            return wake.test(names);
        });
    }

    /** How long until waiters may be woken that are kept waiting for the sake of other JVMs. */
    long nanosToPauseEnd() {
        return guard.get(pauses::nanosToEnd);
    }

    /** Whether other JVMs are granted what is waited for. */
    boolean isTurnover() {
        return guard.is(() -> pauses.isTurnover(waitQueues.names()));
    }

    /** The semaphores of which other JVMs are to be told that callers of this one wait. */
    List<String> toBeAnnounced() {
        return guard.get(() -> waitQueues.names().stream()
                .filter(name -> pauses.isToBeAnnounced(name) && waitQueues.isShort(name) && !pauses.isPaused(name))
                .toList());
    }

    /** They were told, by these fences. */
    void announced(Map<String, Long> fences) {
        guard.run(() -> fences.forEach(pauses::announced));
    }
}
