package io.dbsemaphore.engine.batch;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.line.Arrival;
import io.dbsemaphore.line.Place;
import io.dbsemaphore.line.Share;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.CannotAcquireLockException;

/**
 * One acquire, from the caller's call to its answer.
 *
 * <p>It is {@link Stage#READY} from {@link WorkQueue#add} on, until a batch takes it ({@link Stage#BATCH}). If the database
 * refuses it and the caller waits, it is in the lines of its semaphores ({@link Stage#LINE}) until enough permits are
 * available; then it is ready again. It ends when it is decided or cancelled ({@link Stage#DONE}).
 *
 * <p>The wait for permits ends at the {@linkplain #deadline deadline}, when the caller leaves, or when the engine stops ({@link #endWait}).
 * From then on the caller waits for the decision only, up to the decision timeout. Then the acquire is taken out of the queue, and answered.
 *
 * <p>An acquire that is being written stays in its batch. It is first {@linkplain #isCancelled cancelled}: no new attempt begins, except to
 * find the outcome of a lost commit. Half a second later it is {@linkplain #isAbandoned abandoned}: the caller is told that the outcome is
 * unknown, and the thread of the batch undoes a grant that still arrives.
 *
 * <p>The fields that transactions use are in {@link AcquireState}. All others, except the answer, are changed under the lock of the
 * {@link WorkQueue}. {@link AcquireDeadlines} reads fields without the lock, after it has asked the queue about the acquire.
 */
public final class Acquire extends AcquireState {

    enum Stage {
        READY,
        BATCH,
        LINE,
        /** Answered, cancelled, or not queued yet. */
        DONE
    }

    /**
     * The answer to an acquire.
     *
     * @param asOf this JVM's monotonic clock before the transaction that decided the acquire
     * @param epoch the lease epoch of this instance before that transaction
     */
    public record Answer(GrantOutcome outcome, long asOf, long epoch) {}

    /**
     * The call.
     *
     * @param startedAt when it began, by {@link System#nanoTime}
     * @param forWork whether a shutdown waits for the work under the grant
     * @param stack the stack of the caller, if leaks are detected
     */
    public record Call(
            AcquireRequest request,
            long startedAt,
            boolean forWork,
            @Nullable Throwable stack) {

        /** How long the caller waits for permits; zero if it does not wait. */
        public Duration waitTime() {
            return request.waitTime().orElse(Duration.ZERO);
        }

        /** The head start, in microseconds. A caller that does not wait has none: it has no place in the line. */
        long headStart() {
            return waitTime().isZero() ? 0 : TimeUnit.MICROSECONDS.convert(request.headStart());
        }
    }

    /** The order of the callers of this JVM, wherever they are compared. */
    static final Comparator<Acquire> IN_ORDER =
            Comparator.<Acquire, Place>comparing(AcquireState::place).thenComparingLong(Acquire::ticket);

    /** Longer than the interval of the availability poller. */
    private static final Duration MIN_WAIT_TO_JOIN = Duration.ofSeconds(1);

    private final Call call;
    /** The last refusal of an earlier acquire of the same call; empty if there was none. */
    private final List<PermitShortage> earlierShortages;
    /** Fast to compare and to hash, which is often done under the lock. */
    private final Set<String> names;

    private final QueueClock clock;
    private final CompletableFuture<Answer> answer = new CompletableFuture<>();

    private volatile long triedSince;
    private volatile Deadline deadline;
    private long ticket;
    private Stage stage = Stage.DONE;
    private boolean rowAwaited;
    private boolean abandoned;
    private boolean cancelled;
    private Deadline notBefore;
    private volatile @Nullable Deadline postponedUntil;

    /** Begins an acquire that waits for permits as long as its request says. */
    public Acquire(Call call, AcquireCommand command) {
        this(call, command, QueueClock.SYSTEM);
    }

    Acquire(Call call, AcquireCommand command, QueueClock clock) {
        this(call, command, List.of(), clock);
    }

    private Acquire(Call call, AcquireCommand command, List<PermitShortage> earlierShortages, QueueClock clock) {
        super(
                command,
                Arrival.unknown(clock.now()),
                call.headStart(),
                Share.of(call.request().share().orElse(null)));
        this.call = call;
        this.earlierShortages = earlierShortages;
        this.names = Set.copyOf(charges().keySet());
        this.deadline = callDeadline();
        this.clock = clock;
        this.triedSince = queuedAt();
        this.notBefore = clock.in(Duration.ZERO);
        setWillingToWait(hasWaitTime());
    }

    /** Starts the acquire again after an answer that is not passed on to the caller. It keeps its place and its deadline. */
    public Acquire again() {
        Acquire again = new Acquire(call, command(), shortages(), clock);
        again.continueFrom(this);
        return again;
    }

    public Call call() {
        return call;
    }

    /** The names of its semaphores, in no order. */
    Set<String> names() {
        return names;
    }

    /** Sets when the caller came; the time of its attempts is counted from then. */
    void cameAt(Arrival arrival) {
        moveTo(position().with(arrival));
        triedSince = arrival.nanoTime();
    }

    /** How long it has been tried, since it was queued or last waited for permits. */
    Duration triedFor() {
        return Duration.ofNanos(clock.now() - triedSince).truncatedTo(ChronoUnit.MILLIS);
    }

    /** When the acquire was queued, by the monotonic clock of this JVM. */
    long queuedAt() {
        return position().arrival().nanoTime();
    }

    /** When the wait time of the call ends; for a caller without a wait time, when the call began. */
    public Deadline callDeadline() {
        return Deadline.after(call.startedAt(), call.waitTime());
    }

    /** When the wait ends: with the wait time, or earlier if the caller leaves. */
    Deadline deadline() {
        return deadline;
    }

    public boolean hasWaitTime() {
        return !call.waitTime().isZero();
    }

    /**
     * Ends the wait for permits: from then on the caller waits for the decision only. The deadline is set first, because it is read without
     * the lock.
     */
    void endWait() {
        if (!clock.isPassed(deadline)) {
            deadline = clock.in(Duration.ZERO);
        }
        setWillingToWait(false);
    }

    /**
     * Completed by a thread of the engine, which must not be blocked, with the answer, the failure of the acquire, or, if withdrawn, a
     * {@link java.util.concurrent.CancellationException}.
     */
    public CompletableFuture<Answer> answer() {
        return answer;
    }

    long ticket() {
        return ticket;
    }

    void setTicket(long ticket) {
        this.ticket = ticket;
    }

    Stage stage() {
        return stage;
    }

    /** Whether the acquire belongs to a batch that has not ended. */
    boolean isInBatch() {
        return stage == Stage.BATCH;
    }

    void moveTo(Stage next) {
        triedSince = stage == Stage.LINE ? clock.now() : triedSince;
        stage = next;
    }

    /** Whether a lock of another transaction delays the decision. */
    boolean isLocked() {
        return rowAwaited || attempt().isWriteBlocked() || attempt().blockedBy() != null;
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

    /** Until when the acquire may be postponed; set when it is first postponed after a refusal. */
    @Nullable Deadline postponedUntil() {
        return postponedUntil;
    }

    void setPostponedUntil(@Nullable Deadline until) {
        postponedUntil = until;
    }

    /** Whether the caller was told that the outcome is unknown, so that a grant must be undone. */
    boolean isAbandoned() {
        return abandoned;
    }

    void abandon() {
        abandoned = true;
    }

    /**
     * Whether it was cancelled while it was being written, and must not be tried again. False if its outcome is unknown, because another
     * attempt has to find the outcome.
     */
    boolean isCancelled() {
        return cancelled && !isOutcomeUnknown();
    }

    void setCancelled() {
        cancelled = true;
    }

    /** The last refusal of the call; empty if there was none. */
    private List<PermitShortage> shortages() {
        return attempt().isRefused() ? attempt().shortages() : earlierShortages;
    }

    /** The answer with the last refusal of the call; null if there was none. */
    @Nullable Answer lastRefusal() {
        return shortages().isEmpty() ? null : new Answer(new GrantOutcome.Refused(shortages()), clock.now(), 0);
    }

    /**
     * Whether the acquire may wait for permits without a first attempt: there can be no request with its external id, and the
     * wait time is long enough for the availability poller to run.
     */
    boolean mayJoinUnasked() {
        return isWillingToWait() && !mayExist() && clock.remainingNanos(deadline) > MIN_WAIT_TO_JOIN.toNanos();
    }

    /** The exception for its caller when a lock of another transaction has prevented a decision. */
    CannotAcquireLockException locked(@Nullable Throwable cause) {
        return new CannotAcquireLockException(
                whatIsLocked() + ". The acquire was tried for " + triedFor() + ". " + consequence(), cause);
    }

    private String whatIsLocked() {
        Set<String> wanted = command().permits().keySet();
        if (attempt().isWriteBlocked()) {
            return "Another transaction has inserted the external id '"
                    + command().externalId()
                    + "', or has locked the place in the tables permit or permit_request where the permits of "
                    + wanted + " are to be inserted, for example by a locking read at REPEATABLE READ";
        }
        String name = attempt().blockedBy();
        return (name == null ? "A row of the semaphores " + wanted : "The row of the semaphore '" + name + "'")
                + " was locked, or deleted again and again, by other transactions";
    }

    /** The consequence of a failure of the acquire, for the message to its caller. */
    String consequence() {
        return isOutcomeUnknown() || isAbandoned()
                ? "An earlier attempt may have acquired the permits; if so, they are released again"
                : "Nothing is held";
    }
}
