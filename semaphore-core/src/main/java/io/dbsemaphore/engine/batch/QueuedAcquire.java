package io.dbsemaphore.engine.batch;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.engine.support.Deadline;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One caller's acquire from its submission until the caller has the outcome. All but the answer is guarded by the lock of the
 * {@link GrantQueue}.
 */
final class QueuedAcquire {

    enum Place {
        READY,
        BATCH,
        WAIT_QUEUE,
        /** Answered, or given up. */
        DONE
    }

    /** The order in which acquires are decided: first those that were refused, by their places, then the others, by their arrival. */
    static final Comparator<QueuedAcquire> IN_ORDER = Comparator.<QueuedAcquire>comparingLong(
                    acquire -> acquire.state().since())
            .thenComparingLong(QueuedAcquire::ticket);

    /** Longer than the interval of the availability poller. */
    private static final Duration MIN_WAIT_TO_JOIN = Duration.ofSeconds(1);

    private final AcquireState state;
    /** Compared and hashed under the lock again and again, which a set of this kind is fast at. */
    private final Set<String> names;

    private final QueueClock clock;
    private final long startedAt;
    private final CompletableFuture<AcquireAnswer> answer = new CompletableFuture<>();
    /** The number of permits it waits for, for each semaphore in whose wait queue it is. */
    private final Map<String, Long> shortOf = new HashMap<>();

    private volatile Deadline deadline;
    private final boolean waitTime;
    private volatile boolean waitOver;
    private long ticket;
    private long arrivedAt;
    private Place place = Place.DONE;
    private int attempts;
    private boolean isolated;
    private boolean rowAwaited;
    private volatile boolean writeBlocked;
    private boolean abandoned;
    private boolean givenUp;
    private boolean unblocksOthers;
    private Deadline notBefore;
    private @Nullable Deadline postponedUntil;
    private volatile @Nullable RuntimeException lastFailure;
    private volatile List<PermitShortage> lastShortages = List.of();
    private @Nullable Runnable decision;

    QueuedAcquire(AcquireState state, Deadline deadline, QueueClock clock) {
        this.state = state;
        this.names = Set.copyOf(state.command().permits().keySet());
        this.deadline = deadline;
        this.clock = clock;
        this.startedAt = clock.now();
        this.notBefore = clock.in(Duration.ZERO);
        this.waitTime = state.isWillingToWait();
        this.waitOver = !waitTime;
    }

    /** When the acquire was submitted, by {@link System#nanoTime}. */
    long startedAt() {
        return startedAt;
    }

    /** Its state across all attempts, which the transactions share. */
    AcquireState state() {
        return state;
    }

    AcquireCommand command() {
        return state.command();
    }

    /** Its semaphores, in no order. */
    Set<String> names() {
        return names;
    }

    /** When the wait time ends, or ended; for a caller without a wait time, when the acquire was submitted. */
    Deadline deadline() {
        return deadline;
    }

    boolean hasWaitTime() {
        return waitTime;
    }

    boolean isWaitOver() {
        return waitOver;
    }

    /** Ends the wait for permits: from now on the caller waits for the decision only. */
    void endWait() {
        waitOver = true;
        if (!clock.isPassed(deadline)) {
            deadline = clock.in(Duration.ZERO);
        }
    }

    CompletableFuture<AcquireAnswer> answer() {
        return answer;
    }

    /** Sets the outcome, which {@link #complete} passes to the caller. */
    void decide(AcquireAnswer outcome) {
        moveTo(Place.DONE);
        decision = () -> answer.complete(outcome);
    }

    /** Sets the failure, which {@link #complete} passes to the caller. */
    void decide(RuntimeException failure) {
        moveTo(Place.DONE);
        decision = () -> answer.completeExceptionally(failure);
    }

    boolean isDecided() {
        return decision != null;
    }

    /** Completes the answer of a decided acquire. Not to be called under the lock, which woken callers would contend for. */
    void complete() {
        Objects.requireNonNull(decision, "Not decided").run();
    }

    Map<String, Long> shortOf() {
        return shortOf;
    }

    /** Sets when it came, by the monotonic clock of this JVM. */
    void setArrivedAt(long nanos) {
        arrivedAt = nanos;
    }

    long arrivedAt() {
        return arrivedAt;
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

    /** Whether the acquire belongs to a batch that has not ended. */
    boolean isInBatch() {
        return place == Place.BATCH;
    }

    void moveTo(Place next) {
        place = next;
    }

    /** Counts a failed attempt, and returns the number of them. */
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

    /** Whether the acquire is tried in a batch of its own, since a batch that contained it has failed. */
    boolean isIsolated() {
        return isolated;
    }

    void isolate() {
        isolated = true;
    }

    /** Whether a row lock of another transaction delays the decision. */
    boolean isBlockedByRow() {
        return rowAwaited || writeBlocked || state.blockedBy() != null;
    }

    /** Records whether the last attempt has locked the rows of the semaphores, and has waited in vain to insert its permits. */
    void setWriteBlocked(boolean blocked) {
        writeBlocked = blocked;
    }

    void setRowAwaited(boolean awaited) {
        rowAwaited = awaited;
    }

    boolean isWriteBlocked() {
        return writeBlocked;
    }

    Deadline notBefore() {
        return notBefore;
    }

    void pauseUntil(Deadline until) {
        notBefore = until;
    }

    /** Until when the acquire may be postponed; set at the first time. */
    @Nullable Deadline postponedUntil() {
        return postponedUntil;
    }

    void setPostponedUntil(@Nullable Deadline until) {
        postponedUntil = until;
    }

    /** Whether the caller left while the acquire was being decided, so that a grant is to be undone. */
    boolean isAbandoned() {
        return abandoned;
    }

    void abandon() {
        abandoned = true;
    }

    /** Whether the acquire was given up before it was decided. */
    boolean isGivenUp() {
        return givenUp;
    }

    void giveUp() {
        givenUp = true;
        moveTo(Place.DONE);
    }

    /** Records that the removal of this acquire allows others to be tried. */
    void setUnblocksOthers(boolean unblocks) {
        unblocksOthers |= unblocks;
    }

    /** Whether the removal of this acquire allows others to be tried. */
    boolean unblocksOthers() {
        return unblocksOthers;
    }

    List<PermitShortage> lastShortages() {
        return lastShortages;
    }

    void refused(List<PermitShortage> shortages) {
        lastShortages = shortages;
    }

    /**
     * Whether the acquire may wait for permits before the database is asked on its behalf: there can be no request with its
     * external id, and the wait time is long enough for the availability poller to run.
     */
    boolean mayJoinUnasked() {
        return state.isWillingToWait()
                && !state.mayExist()
                && clock.remainingNanos(deadline) > MIN_WAIT_TO_JOIN.toNanos();
    }

    /** The message of the exception for its caller when another transaction has locked something for so long or longer. */
    String lockedFor(Duration time) {
        return whatIsLocked() + " for more than " + time + ". " + consequence();
    }

    private String whatIsLocked() {
        Set<String> wanted = command().permits().keySet();
        String blockedBy = state.blockedBy();
        if (state.isExternalIdLocked()) {
            return "Another transaction has inserted the external id '"
                    + command().externalId() + "', or locked its request or its permits,";
        }
        if (writeBlocked) {
            return "Another transaction has locked rows of the tables permit or permit_request, or gaps between them, where the"
                    + " permits of " + wanted + " are to be inserted, as a locking read at REPEATABLE READ does,";
        }
        return (blockedBy == null
                        ? "A row of the semaphores " + wanted
                        : "The row of the semaphore '" + blockedBy + "'")
                + " was locked, or deleted again and again, by other transactions";
    }

    /** What a failure of the acquire means for its caller. */
    String consequence() {
        return state.isOutcomeUnknown()
                ? "An earlier attempt may have acquired the permits: then they are released again"
                : "Nothing is held";
    }
}
