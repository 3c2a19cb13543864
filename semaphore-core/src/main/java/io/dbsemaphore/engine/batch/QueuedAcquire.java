package io.dbsemaphore.engine.batch;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.engine.support.Deadline;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One caller's order from the moment it is handed in until the caller has its outcome. All but the answer is guarded by
 * the lock of the {@link GrantQueue}.
 */
final class QueuedAcquire {

    /** Where it is. */
    enum Place {
        QUEUE,
        BATCH,
        WAIT_QUEUE,
        /** Answered, or given up by its caller. */
        DONE
    }

    /** Longer than the poller pauses. */
    private static final Duration LONG = Duration.ofSeconds(1);

    private final AcquireState state;
    private final QueueClock clock;
    private final long begunAt;
    private final CompletableFuture<BatchingGranter.Answer> answer = new CompletableFuture<>();
    /** How many permits it waits for in the lines where it stands. */
    private final Map<String, Long> shortOf = new HashMap<>();

    private volatile Deadline deadline;
    private final boolean waitTime;
    private volatile boolean waitOver;
    private long ticket;
    private Place place = Place.DONE;
    private int attempts;
    private boolean isolated;
    private @Nullable String blockedBy;
    private boolean rowAwaited;
    private boolean abandoned;
    private boolean givenUp;
    private boolean madeWay;
    private Deadline notBefore;
    private @Nullable Deadline postponedUntil;
    private volatile @Nullable RuntimeException lastFailure;
    private volatile List<PermitShortage> lastShortages = List.of();
    private @Nullable Runnable decision;

    QueuedAcquire(AcquireState state, Deadline deadline, QueueClock clock) {
        this.state = state;
        this.deadline = deadline;
        this.clock = clock;
        this.begunAt = clock.now();
        this.notBefore = clock.in(Duration.ZERO);
        this.waitTime = state.isWillingToWait();
        this.waitOver = !waitTime;
    }

    /** When it was asked for, by {@link System#nanoTime}. */
    long begunAt() {
        return begunAt;
    }

    /** Its state across all attempts, which the transactions share. */
    AcquireState state() {
        return state;
    }

    AcquireCommand command() {
        return state.command();
    }

    Set<String> names() {
        return state.command().permits().keySet();
    }

    /** When its caller's wait time ends, or ended; for a caller without a wait time, when it came. */
    Deadline deadline() {
        return deadline;
    }

    /** Whether its caller came with a wait time. */
    boolean hasWaitTime() {
        return waitTime;
    }

    boolean isWaitOver() {
        return waitOver;
    }

    /** From now on its caller waits for the decision only. */
    void endWait() {
        waitOver = true;
        if (!clock.isPassed(deadline)) {
            deadline = clock.in(Duration.ZERO);
        }
    }

    CompletableFuture<BatchingGranter.Answer> answer() {
        return answer;
    }

    /** It has its outcome, which {@link #tell} tells. */
    void decide(BatchingGranter.Answer outcome) {
        moveTo(Place.DONE);
        decision = () -> answer.complete(outcome);
    }

    /** It has failed, which {@link #tell} tells. */
    void decide(RuntimeException failure) {
        moveTo(Place.DONE);
        decision = () -> answer.completeExceptionally(failure);
    }

    boolean isDecided() {
        return decision != null;
    }

    /** Wakes the caller, once it is decided. Not under the lock, at which those who are woken would meet. */
    void tell() {
        Objects.requireNonNull(decision, "Not decided").run();
    }

    Map<String, Long> shortOf() {
        return shortOf;
    }

    long ticket() {
        return ticket;
    }

    void setTicket(long ticket) {
        this.ticket = ticket;
    }

    Place place() {
        return place;
    }

    /** Whether a batch that has not ended decides about it. */
    boolean isInBatch() {
        return place == Place.BATCH;
    }

    void moveTo(Place next) {
        place = next;
    }

    /** Counts an attempt that failed, and returns how many did. */
    int failed(RuntimeException failure) {
        lastFailure = failure;
        return ++attempts;
    }

    @Nullable RuntimeException lastFailure() {
        return lastFailure;
    }

    int attempts() {
        return attempts;
    }

    /** Whether it is to be tried without others, since something went wrong with them. */
    boolean isIsolated() {
        return isolated;
    }

    void isolate() {
        isolated = true;
    }

    /** The name for whose row, which somebody else had locked, it was passed over. */
    @Nullable String blockedBy() {
        return blockedBy;
    }

    void setBlockedBy(@Nullable String name) {
        blockedBy = name;
    }

    /** Whether another transaction's lock of a row keeps it from being decided. */
    boolean isBlockedByRow() {
        return rowAwaited || blockedBy != null;
    }

    void setRowAwaited(boolean awaited) {
        rowAwaited = awaited;
    }

    Deadline notBefore() {
        return notBefore;
    }

    void pauseUntil(Deadline until) {
        notBefore = until;
    }

    /** Until when it may be passed over; set when that begins. */
    @Nullable Deadline postponedUntil() {
        return postponedUntil;
    }

    void setPostponedUntil(@Nullable Deadline until) {
        postponedUntil = until;
    }

    /** Whether its caller has gone while its fate was being decided, so that a grant is to be undone. */
    boolean isAbandoned() {
        return abandoned;
    }

    void abandon() {
        abandoned = true;
    }

    /** Whether its caller has gone before anything was decided. */
    boolean isGivenUp() {
        return givenUp;
    }

    void giveUp() {
        givenUp = true;
        moveTo(Place.DONE);
    }

    /** It may have been in the way of others, which can be tried now that it is gone. */
    void makeWay(boolean forOthers) {
        madeWay |= forOthers;
    }

    /** Whether others may be there to be tried since it is gone. */
    boolean hasMadeWay() {
        return madeWay;
    }

    List<PermitShortage> lastShortages() {
        return lastShortages;
    }

    void refused(List<PermitShortage> shortages) {
        lastShortages = shortages;
    }

    /**
     * Whether it may wait for permits before the database was asked on its behalf: no request with its external id can be
     * there, and it waits for so long that the poller asks meanwhile.
     */
    boolean mayWaitUnasked() {
        return state.isWillingToWait() && !state.mayExist() && clock.remainingNanos(deadline) > LONG.toNanos();
    }
}
