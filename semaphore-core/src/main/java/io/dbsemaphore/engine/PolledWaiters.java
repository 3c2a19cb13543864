package io.dbsemaphore.engine;

import io.dbsemaphore.persistence.PolledAvailability;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** Those who wait in this JVM, as its availability poller sees them. Any thread may call it. */
final class PolledWaiters {

    private final Guard guard;
    private final BusyNames busy;
    private final WaitingLines lines;
    private final HandoverPauses pauses;
    private final Predicate<Collection<String>> call;

    /**
     * Makes a view.
     *
     * @param guard what guards all of these
     * @param call wakes those whose turn it is at these semaphores, and tells whether there are any
     */
    PolledWaiters(
            Guard guard,
            BusyNames busy,
            WaitingLines lines,
            HandoverPauses pauses,
            Predicate<Collection<String>> call) {
        this.guard = guard;
        this.busy = busy;
        this.lines = lines;
        this.pauses = pauses;
        this.call = call;
    }

    /** The names that somebody waits for. */
    Set<String> names() {
        return guard.get(lines::names);
    }

    /** Whether somebody waits. */
    boolean isAny() {
        return guard.is(() -> !lines.isEmpty());
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
            quiet.removeIf(busy::contains);
            polled.forEach((name, seen) -> {
                if (quiet.contains(name)) {
                    lines.set(name, seen.free(), asOf);
                    pauses.polled(name, seen.fence(), asOf);
                }
            });
            return call.test(quiet);
        });
    }

    /** Ends the pauses that are over. Returns whether it is somebody's turn. */
    boolean endPauses() {
        return guard.is(() -> call.test(pauses.end()));
    }

    /** Something may be taken back from somebody who is gone. Returns whether it is somebody's turn. */
    boolean callFirst(Collection<String> names) {
        return guard.is(() -> {
            names.forEach(lines::callFirst);
            return call.test(names);
        });
    }

    /** How long until waiters may be woken that are kept waiting for the sake of other JVMs. */
    long nanosToPauseEnd() {
        return guard.get(pauses::nanosToEnd);
    }

    /** Whether other JVMs are granted what is waited for. */
    boolean isTurnover() {
        return guard.is(() -> pauses.isTurnover(lines.names()));
    }

    /** The semaphores of which other JVMs are to be told that callers of this one wait. */
    List<String> toBeAnnounced() {
        return guard.get(() -> lines.names().stream()
                .filter(name -> pauses.isToBeAnnounced(name) && lines.isShort(name) && !pauses.isPaused(name))
                .toList());
    }

    /** They were told, by these fences. */
    void announced(Map<String, Long> fences) {
        guard.run(() -> fences.forEach(pauses::announced));
    }
}
