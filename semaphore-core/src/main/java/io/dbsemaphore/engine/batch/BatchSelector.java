package io.dbsemaphore.engine.batch;

import io.dbsemaphore.engine.batch.Acquire.Stage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Selects the acquires of a batch from the ready queue: all acquires of semaphores without a batch in flight, in arrival order
 * per semaphore. An acquire that is skipped reserves all of its semaphores, unless the batch that blocks it is stalled.
 */
final class BatchSelector {

    private static final int MAX_NAMES = 200;

    private final InFlightNames inFlight;
    private final ConflictBackOff backOff;
    private final int maxBatchSize;
    private final boolean mayWait;
    private final boolean waitsAtFirst;
    private final List<Acquire> members = new ArrayList<>();
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
     * Selects the acquires of a batch.
     *
     * @param maxBatchSize the maximum number of acquires
     * @param withKeptAlive whether to select acquires whose grants this JVM keeps alive
     * @param mayWait whether the batch may wait for rows that other transactions have locked
     * @param waitsAtFirst whether it should do so at the first attempt
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
        queue.offer(withKeptAlive, selection::isFull, selection::consider);
        return selection;
    }

    static boolean isPossible(ReadyQueue queue, InFlightNames inFlight, ConflictBackOff backOff, boolean mayWait) {
        return !from(queue, inFlight, backOff, 1, true, mayWait, false).members.isEmpty();
    }

    List<Acquire> members() {
        return members;
    }

    /** The names of all semaphores that they acquire. */
    Set<String> names() {
        return names;
    }

    /**
     * The semaphores whose row locks the batch waits for: at most one, since a transaction that waits for a second row blocks
     * all others on the first (no hold-and-wait, one of the conditions of a deadlock: Coffman, Elphick and Shoshani, <a
     * href="https://doi.org/10.1145/356586.356588">System Deadlocks</a>, 1971). It is the semaphore whose locked row blocked the
     * first member before, or the only semaphore of the batch; none if the batch waits for an external id.
     */
    Set<String> awaited() {
        if (awaited != null) {
            return Set.of(awaited);
        }
        return mayWait && waitsAtFirst && names.size() == 1 && !AcquireBatch.awaitsExternalId(members)
                ? Set.copyOf(names)
                : Set.of();
    }

    private boolean isFull() {
        return closed || members.size() >= maxBatchSize || names.size() >= MAX_NAMES;
    }

    /** Selects an acquire, or skips it. Returns false when all that follow with the same names would be skipped, too. */
    private boolean consider(Acquire acquire) {
        if (acquire.stage() != Stage.READY) {
            throw new IllegalStateException(
                    "Not in the ready queue: " + acquire.command().externalId());
        }
        if (backOff.isPaused(acquire.names())) {
            return false; // and its other semaphores are not reserved
        }
        if (acquire.isExternalIdLocked() && !mayAwaitExternalId()) {
            return true; // nothing is reserved for it, and those behind it do not wait for its external id
        }
        if (isBlocked(acquire.names())) {
            skip(acquire);
            return false;
        }
        if (members.isEmpty()) {
            awaited = mayWait && !acquire.isExternalIdLocked()
                    ? acquire.blockedBy()
                    : null;
            closed = acquire.isIsolated();
            add(acquire);
            return true;
        }
        if (exceedsMaxNames(acquire)) {
            closed = true;
            return false;
        }
        if (fits(acquire)) {
            add(acquire);
            return true;
        }
        skip(acquire);
        return false;
    }

    private boolean isBlocked(Set<String> wanted) {
        for (String name : wanted) { // for each caller, under the lock of the queue
            if (reserved.contains(name) || inFlight.blocks(name)) {
                return true;
            }
        }
        return false;
    }

    private boolean mayAwaitExternalId() {
        return mayWait && members.isEmpty();
    }

    private boolean exceedsMaxNames(Acquire acquire) {
        return names.size() + acquire.names().size() > MAX_NAMES
                && names.size()
                                + acquire.names().stream()
                                        .filter(name -> !names.contains(name))
                                        .count()
                        > MAX_NAMES;
    }

    private boolean fits(Acquire acquire) {
        boolean needsAnother = mayWait && awaited == null && acquire.blockedBy() != null;
        boolean wouldWaitToo =
                awaited == null || (acquire.names().contains(awaited) && names.containsAll(acquire.names()));
        return !acquire.isIsolated()
                && !needsAnother
                && wouldWaitToo
                && !externalIds.contains(acquire.command().externalId());
    }

    private void add(Acquire acquire) {
        members.add(acquire);
        names.addAll(acquire.names());
        externalIds.add(acquire.command().externalId());
    }

    /** Reserves the semaphores of the acquire for it, unless its turn cannot come before that of a batch that has stalled. */
    private void skip(Acquire acquire) {
        if (acquire.names().stream().noneMatch(inFlight::isStalled)) {
            reserved.addAll(acquire.names());
        }
    }
}
