package io.dbsemaphore.engine;

import io.dbsemaphore.engine.PendingGrant.Place;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Puts a round together from a queue: all whose names no other round is at, but so that nobody is overtaken at a name. Who
 * is passed over has his turn kept at all of his names, unless what he waits for is held up.
 */
final class RoundSelection {

    private static final int MAX_ORDERS = 500;
    private static final int MAX_NAMES = 200;

    private final BusyNames busy;
    private final boolean mayWait;
    private final List<PendingGrant> members = new ArrayList<>();
    private final Set<String> names = new HashSet<>();
    private final Set<String> externalIds = new HashSet<>();
    private final Set<String> kept = new HashSet<>();
    private boolean waiting;
    private boolean closed;

    private RoundSelection(BusyNames busy, boolean mayWait) {
        this.busy = busy;
        this.mayWait = mayWait;
    }

    /**
     * Selects.
     *
     * @param queue in the order in which they came
     * @param keptToo whether orders may be taken that this JVM is to keep alive
     * @param mayWait whether the round may wait for rows that others have locked
     */
    static RoundSelection from(Collection<PendingGrant> queue, BusyNames busy, boolean keptToo, boolean mayWait) {
        RoundSelection selection = new RoundSelection(busy, mayWait);
        for (PendingGrant pending : queue) {
            if (selection.isFull()) {
                break;
            }
            if (pending.notBefore().isPassed() && (keptToo || !pending.order().isKeptAlive())) {
                selection.consider(pending);
            }
        }
        return selection;
    }

    /** Who is in it, in the order of the queue. */
    List<PendingGrant> members() {
        return members;
    }

    /** The names that they want. */
    Set<String> names() {
        return names;
    }

    /** Whether the round is to wait for rows: where it must, and where it is about one row. */
    boolean isWaiting() {
        return mayWait && (waiting || names.size() == 1);
    }

    private boolean isFull() {
        return closed || members.size() >= MAX_ORDERS || names.size() >= MAX_NAMES;
    }

    private void consider(PendingGrant pending) {
        if (pending.place() != Place.QUEUE) {
            throw new IllegalStateException(
                    "Not in the queue: " + pending.order().externalId());
        }
        if (pending.names().stream().anyMatch(name -> kept.contains(name) || busy.contains(name))) {
            pass(pending);
        } else if (members.isEmpty()) {
            waiting = pending.mustWait() && mayWait;
            closed = pending.isAlone();
            add(pending);
        } else if (fits(pending)) {
            add(pending);
        } else {
            pass(pending);
        }
    }

    private boolean fits(PendingGrant pending) {
        boolean needsAnother = pending.mustWait() && mayWait && !waiting;
        boolean wouldWaitForMore = waiting && !names.containsAll(pending.names());
        return !pending.isAlone()
                && !needsAnother
                && !wouldWaitForMore
                && !externalIds.contains(pending.order().externalId());
    }

    private void add(PendingGrant pending) {
        members.add(pending);
        names.addAll(pending.names());
        externalIds.add(pending.order().externalId());
    }

    private void pass(PendingGrant pending) {
        if (pending.names().stream().noneMatch(busy::isHeldUp)) {
            kept.addAll(pending.names());
        }
    }
}
