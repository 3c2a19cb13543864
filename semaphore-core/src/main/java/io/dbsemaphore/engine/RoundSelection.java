package io.dbsemaphore.engine;

import io.dbsemaphore.engine.PendingGrant.Place;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Puts a round together from a queue: all whose names no other round is at, but so that nobody is overtaken at a name. Who
 * is passed over has his turn kept at all of his names, unless what he waits for is held up.
 */
final class RoundSelection {

    private static final int MAX_NAMES = 200;

    private final BusyNames busy;
    private final int maxBatchSize;
    private final boolean mayWait;
    private final boolean waitsAtFirst;
    private final List<PendingGrant> members = new ArrayList<>();
    private final Set<String> names = new HashSet<>();
    private final Set<String> externalIds = new HashSet<>();
    private final Set<String> kept = new HashSet<>();
    private @Nullable String awaited;
    private boolean closed;

    private RoundSelection(BusyNames busy, int maxBatchSize, boolean mayWait, boolean waitsAtFirst) {
        this.busy = busy;
        this.maxBatchSize = maxBatchSize;
        this.mayWait = mayWait;
        this.waitsAtFirst = waitsAtFirst;
    }

    /**
     * Selects.
     *
     * @param queue in the order in which they came
     * @param maxBatchSize how many acquires it may have at most
     * @param keptToo whether orders may be taken that this JVM is to keep alive
     * @param mayWait whether the round may wait for rows that others have locked
     * @param waitsAtFirst whether it had better do so where nobody was passed over before
     */
    static RoundSelection from(
            OrderQueue queue,
            BusyNames busy,
            int maxBatchSize,
            boolean keptToo,
            boolean mayWait,
            boolean waitsAtFirst) {
        RoundSelection selection = new RoundSelection(busy, maxBatchSize, mayWait, waitsAtFirst);
        queue.offerTo(selection, keptToo);
        return selection;
    }

    /** Whether a round can begin. */
    static boolean isPossible(OrderQueue queue, BusyNames busy) {
        RoundSelection selection = new RoundSelection(busy, 1, true, false);
        queue.offerTo(selection, true);
        return !selection.members.isEmpty();
    }

    /** Who is in it, in the order of the queue. */
    List<PendingGrant> members() {
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
    boolean consider(PendingGrant pending) {
        if (pending.place() != Place.QUEUE) {
            throw new IllegalStateException(
                    "Not in the queue: " + pending.order().externalId());
        }
        if (pending.names().stream().anyMatch(name -> kept.contains(name) || busy.contains(name))) {
            pass(pending);
            return false;
        }
        if (members.isEmpty()) {
            awaited = mayWait ? pending.blockedBy() : null;
            closed = pending.isAlone();
            add(pending);
            return true;
        }
        if (fits(pending)) {
            add(pending);
            return true;
        }
        return !pass(pending);
    }

    private boolean fits(PendingGrant pending) {
        boolean needsAnother = mayWait && awaited == null && pending.blockedBy() != null;
        boolean wouldWaitToo =
                awaited == null || (pending.names().contains(awaited) && names.containsAll(pending.names()));
        return !pending.isAlone()
                && !needsAnother
                && wouldWaitToo
                && !externalIds.contains(pending.order().externalId());
    }

    private void add(PendingGrant pending) {
        members.add(pending);
        names.addAll(pending.names());
        externalIds.add(pending.order().externalId());
    }

    /** Returns whether it keeps its turn. */
    private boolean pass(PendingGrant pending) {
        boolean keepsTurn = pending.names().stream().noneMatch(busy::isHeldUp);
        if (keepsTurn) {
            kept.addAll(pending.names());
        }
        return keepsTurn;
    }
}
