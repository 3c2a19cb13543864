package io.dbsemaphore.domain;

import io.dbsemaphore.PermitShortage;
import java.time.LocalDateTime;
import java.util.Optional;

/** The availability of one locked semaphore while the acquires of a batch are decided one after the other. */
public final class SemaphoreAvailability {

    private final LockedSemaphore semaphore;
    private final HeldSum before;
    private final WaitersElsewhere elsewhere;
    private long held;
    private boolean heldExclusively;
    private long reserved;
    private long tokens;

    public SemaphoreAvailability(LockedSemaphore semaphore, HeldSum before, WaitersElsewhere elsewhere) {
        this.semaphore = semaphore;
        this.before = before;
        this.elsewhere = elsewhere;
        this.held = before.held();
        this.heldExclusively = before.exclusive();
    }

    public LockedSemaphore semaphore() {
        return semaphore;
    }

    /** The database's clock when the held permits were summed. */
    public LocalDateTime now() {
        return before.now();
    }

    public long semaphoreId() {
        return semaphore.id();
    }

    /** Whether the count exceeds the capacity, so that waiting is pointless. A paused semaphore may be waited for. */
    boolean isExceededBy(int count) {
        return !semaphore.isPaused() && count > semaphore.capacity();
    }

    /** The number of permits that are withheld from an acquire for callers ahead, whatever instance they wait in. */
    long withheldFrom(AcquireState acquire, String name) {
        boolean isWindowOpen = ReservationWindow.isOpen(now());
        return acquire.demandAhead(name).withheld(isWindowOpen)
                + elsewhere.withheldAhead(acquire.place(), semaphore.capacity(), isWindowOpen);
    }

    /**
     * Whether enough permits are available.
     *
     * @param withheld the number of permits that are withheld for callers ahead
     */
    boolean fits(int count, boolean exclusive, long withheld) {
        if (semaphore.isPaused() || heldExclusively) {
            return false;
        }
        long unavailable = held + reserved + withheld;
        return exclusive ? unavailable == 0 : unavailable + count <= semaphore.capacity();
    }

    /** The number of held permits, including those granted to this batch. */
    long held() {
        return held;
    }

    /** The number of available permits; 0 while the semaphore is held exclusively. */
    long available() {
        return heldExclusively ? 0 : Math.max(0, semaphore.capacity() - held);
    }

    /** Reserves permits for an acquire that waits: no further acquire of this batch gets them. */
    void reserve(int count, boolean exclusive) {
        reserved += countOf(count, exclusive);
    }

    /** The lowest token that will be held. */
    long liveFrom() {
        return before.held() > 0 ? before.lowestToken() : semaphore.fence() + 1;
    }

    /** Takes the permits that an acquire asks for, and returns their number. */
    int take(int count, boolean exclusive) {
        if (!fits(count, exclusive, -reserved)) {
            throw new IllegalStateException("Semaphore '%s' would be over capacity: %d of %d held, %d more"
                    .formatted(semaphore.name(), held, semaphore.capacity(), count));
        }
        int taken = countOf(count, exclusive);
        held += taken;
        heldExclusively |= exclusive;
        return taken;
    }

    /** Reserves this number of tokens, and returns the first of them. */
    long fencingToken(int count) {
        long first = semaphore.fence() + tokens + 1;
        tokens += count;
        return first;
    }

    /** The number of tokens that this batch has reserved. */
    long tokens() {
        return tokens;
    }

    /**
     * The availability after the decisions; without any, as it was read.
     *
     * @param isRegistered whether the other instances know the waiting callers of this one
     */
    public RemainingAvailability remaining(boolean isRegistered) {
        return new RemainingAvailability(
                semaphore.capacity(),
                held,
                heldExclusively ? 0 : semaphore.capacity() - held,
                semaphore.fence(),
                semaphore.fence() + tokens,
                now(),
                elsewhere,
                isRegistered);
    }

    PermitShortage shortage(int count, boolean exclusive, long withheld) {
        return new PermitShortage(
                semaphore.name(),
                semaphore.capacity(),
                held,
                countOf(count, exclusive),
                Optional.empty(),
                Math.min(available(), reserved + withheld));
    }

    private int countOf(int count, boolean exclusive) {
        return exclusive ? semaphore.capacity() : count;
    }
}
