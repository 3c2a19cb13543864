package io.dbsemaphore.domain;

import io.dbsemaphore.PermitShortage;
import java.util.Optional;

/** What is free of one locked semaphore while the orders of a batch are decided one after the other. */
public final class SemaphoreAvailability {

    private final LockedSemaphore semaphore;
    private final HeldSum before;
    private long held;
    private boolean heldExclusively;
    private boolean reserved;

    public SemaphoreAvailability(LockedSemaphore semaphore, HeldSum before) {
        this.semaphore = semaphore;
        this.before = before;
        this.held = before.held();
        this.heldExclusively = before.isExclusive();
    }

    public long semaphoreId() {
        return semaphore.id();
    }

    int capacity() {
        return semaphore.capacity();
    }

    HeldSum before() {
        return before;
    }

    /** Whether the order asks for more than there will ever be. A paused semaphore may be waited for. */
    boolean isExceededBy(int count) {
        return !semaphore.isPaused() && count > semaphore.capacity();
    }

    /**
     * Whether there is room.
     *
     * @param demandAhead what those wait for who came earlier
     */
    boolean fits(int count, boolean exclusive, long demandAhead) {
        if (semaphore.isPaused() || heldExclusively || reserved) {
            return false;
        }
        return exclusive ? held == 0 && demandAhead == 0 : held + demandAhead + count <= semaphore.capacity();
    }

    /** How many permits are held, those of the batch among them. */
    long held() {
        return held;
    }

    /** How many permits are free; none while it is held exclusively. */
    long free() {
        return heldExclusively ? 0 : Math.max(0, semaphore.capacity() - held);
    }

    /** The highest token that was handed out before this transaction. */
    long fence() {
        return semaphore.fence();
    }

    /** What is free is kept for somebody who came earlier. */
    void reserve() {
        reserved = true;
    }

    /** The lowest token that is going to be held. */
    long liveFrom() {
        return before.held() > 0 ? before.lowestToken() : semaphore.fence() + 1;
    }

    /** Takes what an order asks for, and returns the number of permits that it is. */
    int take(int count, boolean exclusive) {
        if (!fits(count, exclusive, 0)) {
            throw new IllegalStateException("Semaphore '%s' would be over capacity: %d of %d held, %d more"
                    .formatted(semaphore.name(), held, semaphore.capacity(), count));
        }
        int taken = countOf(count, exclusive);
        held += taken;
        heldExclusively |= exclusive;
        return taken;
    }

    /** The token of the {@code ordinal}th grant of this batch, counted from 1. */
    long token(int ordinal) {
        return semaphore.fence() + ordinal;
    }

    PermitShortage shortage(int count, boolean exclusive, long demandAhead) {
        return new PermitShortage(
                semaphore.name(),
                semaphore.capacity(),
                held,
                countOf(count, exclusive),
                Optional.empty(),
                reserved ? free() : Math.min(free(), demandAhead));
    }

    private int countOf(int count, boolean exclusive) {
        return exclusive ? semaphore.capacity() : count;
    }
}
