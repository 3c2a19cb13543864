package io.dbsemaphore.engine.batch;

import io.dbsemaphore.engine.batch.QueuedAcquire.Place;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Puts a round together from a queue: all whose names no other round is at, but so that nobody is overtaken at a name. Who
 * is passed over has his turn kept at all of his names, unless what he waits for is held up.
 */
final class BatchSelector {

    private static final int MAX_NAMES = 200;

    private final InFlightNames inFlight;
    private final ConflictBackOff backOff;
    private final int maxBatchSize;
    private final boolean mayWait;
    private final boolean waitsAtFirst;
    private final List<QueuedAcquire> members = new ArrayList<>();
    private final Set<String> names = new HashSet<>();
    private final Set<String> externalIds = new HashSet<>();
    private final Set<String> reserved = new HashSet<>();
    private @Nullable String awaited;
    private boolean closed;

    private BatchSelector(
            InFlightNames inFlight, ConflictBackOff backOff, int maxBatchSize, boolean mayWait, boolean waitsAtFirst) {
        this.inFlight = inFlight;
        this.backOff = backOff;
        this.maxBatchSize = maxBatchSize;
        this.mayWait = mayWait;
        this.waitsAtFirst = waitsAtFirst;
    }

    /**
     * Selects.
     *
     * @param queue in the order in which they came
     * @param maxBatchSize how many acquires it may have at most
     * @param withKeptAlive whether orders may be taken that this JVM is to keep alive
     * @param mayWait whether the round may wait for rows that others have locked
     * @param waitsAtFirst whether it had better do so where nobody was passed over before
     */
    static BatchSelector from(
            ReadyQueue queue,
            InFlightNames inFlight,
            ConflictBackOff backOff,
            int maxBatchSize,
            boolean withKeptAlive,
            boolean mayWait,
            boolean waitsAtFirst) {
        BatchSelector selection = new BatchSelector(inFlight, backOff, maxBatchSize, mayWait, waitsAtFirst);
        queue.offerTo(selection, withKeptAlive);
        return selection;
    }

    /** Whether a round can begin. */
    static boolean isPossible(ReadyQueue queue, InFlightNames inFlight, ConflictBackOff backOff) {
        BatchSelector selection = new BatchSelector(inFlight, backOff, 1, true, false);
        queue.offerTo(selection, true);
        return !selection.members.isEmpty();
    }

    /** Who is in it, in the order of the queue. */
    List<QueuedAcquire> members() {
        return members;
    }

    /** The names that they want. */
    Set<String> names() {
        return names;
    }

    /**
     * For whose rows the round is to wait: one at most, since who waits for a second holds the first, and keeps it from
     * everybody. It is that which the first in turn was passed over for, or the only one.
     */
    Set<String> awaited() {
        if (awaited != null) {
            return Set.of(awaited);
        }
        return mayWait && waitsAtFirst && names.size() == 1 ? Set.copyOf(names) : Set.of();
    }

    /** Whether nothing more is considered. */
    boolean isFull() {
        return closed || members.size() >= maxBatchSize || names.size() >= MAX_NAMES;
    }

    /** Adds it or passes it over. Returns false when all that follow with the same names would be passed over, too. */
    boolean consider(QueuedAcquire pending) {
        if (pending.place() != Place.QUEUE) {
            throw new IllegalStateException(
                    "Not in the queue: " + pending.command().externalId());
        }
        if (backOff.isPaused(pending.names())) {
            return false; // its turn at its other names is not kept
        }
        if (pending.names().stream().anyMatch(name -> reserved.contains(name) || inFlight.contains(name))) {
            pass(pending);
            return false;
        }
        if (members.isEmpty()) {
            awaited = mayWait ? pending.blockedBy() : null;
            closed = pending.isIsolated();
            add(pending);
            return true;
        }
        if (fits(pending)) {
            add(pending);
            return true;
        }
        return !pass(pending);
    }

    private boolean fits(QueuedAcquire pending) {
        boolean needsAnother = mayWait && awaited == null && pending.blockedBy() != null;
        boolean wouldWaitToo =
                awaited == null || (pending.names().contains(awaited) && names.containsAll(pending.names()));
        return !pending.isIsolated()
                && !needsAnother
                && wouldWaitToo
                && !externalIds.contains(pending.command().externalId());
    }

    private void add(QueuedAcquire pending) {
        members.add(pending);
        names.addAll(pending.names());
        externalIds.add(pending.command().externalId());
    }

    /** Returns whether it keeps its turn. */
    private boolean pass(QueuedAcquire pending) {
        boolean reserves = pending.names().stream().noneMatch(inFlight::isStalled);
        if (reserves) {
            reserved.addAll(pending.names());
        }
        return reserves;
    }
}
