package io.dbsemaphore.domain;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.line.Admission;
import io.dbsemaphore.line.Ask;
import io.dbsemaphore.line.LineAhead;
import io.dbsemaphore.line.LineHead;
import io.dbsemaphore.line.LineLimit;
import io.dbsemaphore.line.Place;
import io.dbsemaphore.line.Places;
import io.dbsemaphore.line.ReservationWindow;
import io.dbsemaphore.line.Share;
import io.dbsemaphore.line.ShareTags;
import io.dbsemaphore.line.ShareTurns;
import io.dbsemaphore.line.Waiter;
import io.dbsemaphore.line.WaitersElsewhere;
import java.time.LocalDateTime;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.function.ToIntBiFunction;
import org.jspecify.annotations.Nullable;

/** The availability of one locked semaphore while the acquires of a batch are decided one after the other. */
public final class SemaphoreAvailability {

    private final LockedSemaphore semaphore;
    private final HeldSum before;
    private final WaitersElsewhere elsewhere;
    private final LineLimit limit;
    private final Function<Share, LineLimit> limitOf;
    private long held;
    private boolean heldExclusively;
    private long reserved;
    private long tokens;
    private int joined;
    private final Map<Share, Integer> joinedBy = new HashMap<>();
    private @Nullable ShareTurns turns;
    private @Nullable ShareTags tags;

    /** Begins without a limit of the callers that wait. */
    public SemaphoreAvailability(LockedSemaphore semaphore, HeldSum before, WaitersElsewhere elsewhere) {
        this(semaphore, before, elsewhere, LineLimit.NONE, share -> LineLimit.NONE);
    }

    /**
     * Begins.
     *
     * @param limit how many callers may wait
     * @param limitOf how many callers with a share may wait
     */
    public SemaphoreAvailability(
            LockedSemaphore semaphore,
            HeldSum before,
            WaitersElsewhere elsewhere,
            LineLimit limit,
            Function<Share, LineLimit> limitOf) {
        this.semaphore = semaphore;
        this.before = before;
        this.elsewhere = elsewhere;
        this.limit = limit;
        this.limitOf = limitOf;
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

    /** Whether the order of these acquires matters: callers wait, have waited, or ask for more permits than are available. */
    public boolean isContended(List<AcquireState> acquires, LineHead own) {
        if (!own.isEmpty() || !elsewhere.isEmpty()) {
            return true;
        }
        long needed = 0;
        for (AcquireState acquire : acquires) {
            if (acquire.hasWaited()) {
                return true;
            }
            needed += Objects.requireNonNull(acquire.charges().get(semaphore.name()))
                    .needs(semaphore.capacity());
        }
        return needed > unheld();
    }

    /**
     * Has the acquires decided by their shares.
     *
     * @param read the tags of all shares of the callers that wait for the semaphore
     * @param own the callers of this instance that are not decided
     * @param answeredAt this JVM's monotonic clock when the held permits were read
     */
    public void share(
            List<AcquireState> acquires,
            ShareTags read,
            LineHead own,
            ToIntBiFunction<String, String> weights,
            long instance,
            long answeredAt) {
        Places places = new Places(Place.micros(now()), answeredAt);
        Map<Object, Waiter> members = new LinkedHashMap<>();
        Map<Object, ShareTags.Known> known = new HashMap<>();
        for (AcquireState acquire : acquires) {
            Ask ask = acquire.charges().get(semaphore.name());
            if (ask != null
                    && !ask.exceeds(semaphore.capacity()) // it takes no turn
                    && (acquire.isWillingToWait() || acquire.hasWaited())) {
                members.put(
                        acquire,
                        acquire.toWaiter(
                                semaphore.name(),
                                acquire.position().refused(places).place()));
                ShareTags.Known tags = acquire.knownTags(semaphore.name());
                if (tags != null) {
                    known.put(acquire, tags);
                }
            }
        }
        turns = new ShareTurns(
                read,
                weights,
                semaphore.name(),
                semaphore.capacity(),
                ReservationWindow.isOpen(now()),
                own,
                members,
                known,
                elsewhere,
                instance);
    }

    /** The turns of the callers; null if none of them has a share, or nobody waits. */
    public @Nullable ShareTurns turns() {
        return turns;
    }

    /** Sets the tags of the shares of waiting callers after all decisions, which the queue of this instance learns. */
    public void setTags(ShareTags after) {
        tags = after;
    }

    /** The callers of other instances that wait. */
    public WaitersElsewhere elsewhere() {
        return elsewhere;
    }

    /** The place by which an acquire is decided, among those of this semaphore only. */
    Place placeOf(AcquireState acquire) {
        return turns == null ? acquire.place() : turns.placeOf(acquire);
    }

    /** Whether no caller that this transaction does not know comes before an acquire. */
    boolean isVerified(AcquireState acquire) {
        return turns == null || turns.isVerified(acquire);
    }

    /** The line of this semaphore, as seen by an acquire. */
    LineAhead line(AcquireState acquire) {
        LineAhead shared = turns == null ? null : turns.lineOf(acquire);
        if (shared != null) {
            return shared;
        }
        return new LineAhead(
                acquire.demandAhead(semaphore.name()),
                elsewhere,
                acquire.position().standsAt(),
                ReservationWindow.isOpen(now()));
    }

    Admission admission(Ask ask, LineAhead line) {
        return Admission.of(semaphore.capacity(), unheld() - reserved, line, ask);
    }

    /** Negative if more is held than a lowered capacity. */
    private long unheld() {
        return heldExclusively ? 0 : semaphore.capacity() - held;
    }

    /** The number of held permits, including those granted to this batch. */
    long held() {
        return held;
    }

    /** The number of available permits; 0 while the semaphore is held exclusively. */
    long available() {
        return Math.max(0, unheld());
    }

    /** Reserves permits for an acquire that waits: no further acquire of this batch gets them. */
    void reserve(Ask ask) {
        reserved += ask.permits(semaphore.capacity());
    }

    /** Counts a refused acquire of this batch that waits. */
    void join(Share share) {
        joined++;
        if (!share.isNone()) {
            joinedBy.merge(share, 1, Integer::sum);
        }
    }

    /** Whether no further caller may wait. */
    boolean isLineFull() {
        return limit.isReached(joined, elsewhere.callers());
    }

    /** Whether no further caller with a share may wait. */
    boolean isFullFor(Share share) {
        return limitOf.apply(share).isReached(joinedBy.getOrDefault(share, 0), elsewhere.callers(share));
    }

    /** The lowest token that will be held. */
    public long liveFrom() {
        return before.held() > 0 ? before.lowestToken() : semaphore.fence() + 1;
    }

    /** Takes the permits that an acquire asks for, and returns their number. */
    int take(AcquireState acquire) {
        int taken = take(Objects.requireNonNull(acquire.charges().get(semaphore.name())));
        if (turns != null) {
            turns.grant(acquire, acquire.share(), taken);
        }
        return taken;
    }

    int take(Ask ask) {
        if (unheld() < ask.needs(semaphore.capacity())) {
            throw new IllegalStateException("Semaphore '%s' would be over capacity: %d of %d held, %d more"
                    .formatted(semaphore.name(), held, semaphore.capacity(), ask.permits(semaphore.capacity())));
        }
        int taken = ask.permits(semaphore.capacity());
        held += taken;
        heldExclusively |= ask.exclusive();
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

    /** The highest token, including those that this batch has reserved. */
    public long fence() {
        return semaphore.fence() + tokens;
    }

    /**
     * The availability after any decisions, otherwise as it was read.
     *
     * @param isRegistered whether the other instances know the waiting callers of this one
     */
    public RemainingAvailability remaining(boolean isRegistered) {
        return new RemainingAvailability(
                semaphore.capacity(), held, unheld(), semaphore.fence(), fence(), now(), elsewhere, isRegistered, tags);
    }

    PermitShortage shortage(Ask ask, LineAhead line) {
        return shortage(ask, line, joined + line.callers(), OptionalInt.empty());
    }

    /** The shortage of an acquire that may not wait, since the line is full. */
    PermitShortage shortageOfFull(Ask ask, LineAhead line) {
        return shortage(ask, line, joined + limit.here() + elsewhere.callers(), OptionalInt.of(limit.max()));
    }

    /** The shortage of an acquire that may not wait, since the line is full for its share. */
    PermitShortage shortageOfFull(Ask ask, LineAhead line, Share share) {
        LineLimit full = limitOf.apply(share);
        long waiting = joinedBy.getOrDefault(share, 0) + full.here() + elsewhere.callers(share);
        return shortage(ask, line, waiting, OptionalInt.of(full.max())).withFullShare(share.path());
    }

    private PermitShortage shortage(Ask ask, LineAhead line, long ahead, OptionalInt maxWaiting) {
        return new PermitShortage(
                semaphore.name(),
                semaphore.capacity(),
                held,
                ask.permits(semaphore.capacity()),
                Optional.empty(),
                Math.min(available(), reserved + line.withheld(semaphore.capacity())),
                ahead,
                maxWaiting,
                false);
    }
}
