package io.dbsemaphore.engine.batch;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.QueuePosition;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.HandoverOutcome;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.domain.ReuseTerms;
import io.dbsemaphore.engine.batch.Acquire.Stage;
import io.dbsemaphore.line.LineHead;
import io.dbsemaphore.line.OwnLines;
import io.dbsemaphore.persistence.unit.Failure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The pending acquires and releases of this JVM, and their order. One lock guards all state; no I/O and no code
 * of a caller runs under it.
 *
 * <p><b>Acquires.</b> A new acquire is {@linkplain ReadyQueue ready}, or joins the {@linkplain WaitingLines lines} of its semaphores if the database
 * would refuse it. {@link #take} begins a batch with ready acquires; a semaphore is in one batch at a time. {@link #finish} and
 * {@link #finishFailed} {@linkplain Settlement settle} the batch: each member is answered, is ready again, or waits. Waiting acquires are
 * ready again when a batch, a release of this JVM or the poller finds enough permits for them. Changes of the availability while a batch
 * is in flight are recorded with the batch, which may have read the availability before.
 *
 * <p>A caller that no longer waits takes its acquire out ({@link #tryOnceMore}, {@link #cancel}, {@link #abandon}). One that newer
 * callers have displaced is taken out under the lock, and answered outside of it ({@link #takeDisplaced}).
 *
 * <p><b>Row locks.</b> A batch that waits for a row lock is stalled after a quarter of a second: then only the semaphore of that row is
 * kept from other batches. All but one of the batches may wait like that.
 *
 * <p><b>Releases.</b> A release is piggy-backed on the next batch of acquires if one begins soon, or if callers wait for its permits. For a
 * second after a batch has met a locked row, none is, since batches then wait for row locks. Otherwise, and if that batch fails, a
 * transaction of releases only executes it ({@link #takeReleases}).
 *
 * <p><b>Contention.</b> From {@link #THRESHOLD} concurrent callers on, a batch that waits briefly gathers more of them; this is the
 * threshold of PostgreSQL's {@code commit_siblings}.
 *
 * <p>{@code WorkQueueTests} and {@code WorkQueueScheduleTests} test it.
 *
 * @see <a href="https://www.postgresql.org/docs/current/runtime-config-wal.html">PostgreSQL: Write Ahead Log settings</a>
 */
final class WorkQueue {

    private static final int THRESHOLD = 4;

    /** How long contention is assumed to persist after it was observed. */
    private static final Duration BUSY_PERSISTS = Duration.ofMillis(10);

    /** How long batches wait for row locks at once, after another transaction was found to have locked a row. */
    private static final Duration LOCKS_PERSIST = Duration.ofSeconds(1);

    private final BatchLimits limits;
    private final OwnLines nobody;
    private final QueueClock clock;

    @GuardedBy("this") private final ConflictBackOff backOff;

    @GuardedBy("this") private final ReadyQueue ready;

    @GuardedBy("this") private final WaitingLines lines;

    @GuardedBy("this") private final List<Batch> inFlight = new ArrayList<>();

    @GuardedBy("this") private final LineRoom room;

    @GuardedBy("this") private final Map<String, Batch> inFlightByName = new HashMap<>();

    @GuardedBy("this") private final Set<Release> releases = new LinkedHashSet<>();

    @GuardedBy("this") private final Set<Release> piggyBacked = new LinkedHashSet<>();

    @GuardedBy("this") private int acquiresInFlight;

    @GuardedBy("this") private Deadline locksUntil;

    @GuardedBy("this") private Deadline busyUntil;

    @GuardedBy("this") private boolean closed;

    @GuardedBy("this") private long tickets;

    /**
     * Creates an empty queue.
     *
     * @param certifiesWrites whether the server belongs to a cluster in which several servers accept writes
     * @param nobody represents this instance when no caller waits
     */
    @SuppressWarnings("GuardedBy") // the ready queue asks under the lock
    WorkQueue(BatchLimits limits, boolean certifiesWrites, OwnLines nobody, QueueClock clock) {
        this.limits = limits;
        this.nobody = nobody;
        this.clock = clock;
        backOff = new ConflictBackOff(certifiesWrites, clock);
        ready = new ReadyQueue(this::isBlocked, this::isStalled, backOff, clock);
        lines = new WaitingLines(clock, nobody);
        room = new LineRoom(nobody, lines, ready, inFlight, new ConcurrentLinkedQueue<>());
        locksUntil = clock.in(Duration.ZERO);
        busyUntil = clock.in(Duration.ZERO);
    }

    /**
     * Adds an acquire to the ready queue, or to the lines of its semaphores if the database would certainly refuse it.
     *
     * @return whether the acquire is ready to be tried
     * @throws SemaphoreClosedException when closed
     */
    synchronized boolean add(Acquire acquire) {
        if (closed) {
            throw new SemaphoreClosedException();
        }
        acquire.setTicket(++tickets);
        lines.arrived(acquire);
        if (lines.join(acquire, room)) {
            acquire.moveTo(Stage.LINE);
            boolean unused = displace(acquire.names());
            return false;
        }
        ready.add(acquire);
        return true;
    }

    /** The time until a batch can begin; {@link Long#MAX_VALUE} when nothing is ready. */
    synchronized long nanosToWork() {
        long toChange = Math.min(nanosToStall(), backOff.nanosToEnd()); // first, so that none ends between the checks
        if (!piggyBacked.isEmpty() || ready.isSelectable(mayWait())) {
            return 0L;
        }
        // after the selection, which has added acquires whose pause has ended
        return ready.size() == 0 ? Long.MAX_VALUE : Math.min(toChange, ready.nanosToReady());
    }

    /** The time until the next batch in flight is stalled, and keeps fewer semaphores from further batches. */
    @GuardedBy("this") private long nanosToStall() {
        long now = clock.now();
        long first = Long.MAX_VALUE;
        for (Batch batch : inFlight) {
            long nanos = batch.nanosToStall(now);
            first = nanos > 0 ? Math.min(first, nanos) : first;
        }
        return first;
    }

    /** Whether an acquire is ready whose grant this JVM will keep alive. */
    synchronized boolean hasKeptAlive() {
        return ready.hasKeptAlive();
    }

    /**
     * Begins a batch with ready acquires. It takes the piggy-backed releases along, unless it may wait for a lock, which releases must not.
     *
     * @param withKeptAlive whether to take acquires whose grants this JVM will keep alive
     */
    synchronized Batch take(boolean withKeptAlive) {
        return take(withKeptAlive, !piggyBacked.isEmpty());
    }

    /** Takes a batch. If it takes releases along, it does not wait for a row that was not found locked before. */
    synchronized Batch take(boolean withKeptAlive, boolean takesReleases) {
        boolean waitsAtFirst = !takesReleases && (ready.size() < THRESHOLD || meetsLocks());
        ReadyQueue.Selection selection = ready.select(limits.maxBatchSize(), withKeptAlive, mayWait());
        List<Acquire> members = selection.members();
        members.sort(Acquire.IN_ORDER);
        Set<String> names = Set.copyOf(selection.names());
        Set<String> awaited = selection.awaited(waitsAtFirst);
        members.forEach(ready::remove);
        OwnLines queues = queues(names, true, members);
        List<Release> carried = awaited.isEmpty() && !piggyBacked.isEmpty()
                ? piggyBacked.stream().limit(limits.maxBatchSize()).toList()
                : List.of();
        carried.forEach(piggyBacked::remove);
        Batch batch = new Batch(false, members, carried, names, awaited, queues, clock.now(), new HashMap<>());
        members.forEach(acquire -> {
            acquire.moveTo(Stage.BATCH);
            acquire.setDemandAhead(lines.demandAhead(acquire));
            acquire.setKnownTags(lines.knownTags(acquire));
            acquire.setRowAwaited(batch.awaitsRow());
        });
        names.forEach(name -> batch.changed(name, -promisedForLater(name, members, ready.woken(name))));
        inFlight.add(batch);
        names.forEach(name -> inFlightByName.put(name, batch));
        acquiresInFlight += members.size();
        return batch;
    }

    /**
     * The permits that are promised to callers which are woken for a later batch. By arrival, callers behind them are not chosen before
     * them. By shares, they may be: without this, they would be refused and woken again and again.
     *
     * @param members the callers of a batch that begins
     */
    @GuardedBy("this") private long promisedForLater(String name, List<Acquire> members, Collection<Acquire> later) {
        boolean isShared = !later.isEmpty()
                && (lines.isShared(name)
                        || Stream.concat(later.stream(), members.stream())
                                .anyMatch(acquire -> !acquire.share().isNone()));
        return isShared
                ? later.stream()
                        .mapToLong(acquire -> Objects.requireNonNull(
                                        acquire.charges().get(name))
                                .permits())
                        .sum()
                : 0;
    }

    /** Those that are woken, apart from callers that a stalled batch of another semaphore blocks: later ones may go before these. */
    @GuardedBy("this") private List<Acquire> wokenAndFree(String name) {
        List<Acquire> free = new ArrayList<>();
        for (Acquire acquire : ready.woken(name)) {
            boolean isHeldUp = false;
            for (String each : acquire.names()) {
                isHeldUp |= isStalled(each);
            }
            if (!isHeldUp) {
                free.add(acquire);
            }
        }
        return free;
    }

    /** @param members acquires that may begin to wait */
    @GuardedBy("this") private OwnLines queues(Collection<String> names, boolean withWoken, Collection<Acquire> members) {
        Map<String, LineHead> waiting = new HashMap<>();
        for (String name : names) {
            LineHead local = lines.local(name);
            LineHead all = withWoken ? ready.withWoken(name, local) : local;
            if (!all.isEmpty()) {
                waiting.put(name, room.counted(name, all, members));
            }
        }
        return waiting.isEmpty() ? nobody : nobody.with(waiting);
    }

    /** Whether a further batch of acquires may wait for a row lock. */
    @GuardedBy("this") private boolean mayWait() {
        return awaitingRows(false) < limits.maxWaiting();
    }

    /** The number of batches, of releases only or of acquires, that may be waiting for a row lock. */
    @GuardedBy("this") private int awaitingRows(boolean ofReleases) {
        int count = 0;
        for (Batch batch : inFlight) {
            count += batch.awaitsRow() && batch.isOfReleases() == ofReleases ? 1 : 0;
        }
        return count;
    }

    /** Whether other transactions have locked rows recently. */
    @GuardedBy("this") private boolean meetsLocks() {
        return !clock.isPassed(locksUntil);
    }

    /** Whether so many callers are active that a short delay lets more of them join a batch. */
    synchronized boolean isBusy() {
        return ready.size() + acquiresInFlight >= THRESHOLD || !clock.isPassed(busyUntil);
    }

    /** Whether a batch in flight blocks a semaphore, so that no other batch of it may begin. */
    @GuardedBy("this") private boolean isBlocked(String name) {
        Batch batch = inFlightByName.get(name);
        return batch != null && batch.blocks(name, clock.now());
    }

    @GuardedBy("this") private boolean isAnyKept(Set<String> names) {
        for (String name : names) {
            if (isBlocked(name)) {
                return true;
            }
        }
        return false;
    }

    @GuardedBy("this") private boolean isStalled(String name) {
        Batch batch = inFlightByName.get(name);
        long now = clock.now();
        return batch != null && batch.blocks(name, now) && batch.isStalled(now);
    }

    /**
     * Settles a committed batch: its acquires and releases are answered or queued again, and waiting callers that can now be served are
     * moved to the ready queue.
     *
     * @param epoch the lease epoch of this instance before the transaction
     */
    synchronized Settlement.Result finish(Batch batch, BatchResult result, long epoch) {
        recordClock(result.availability().values(), batch.startedAt(), result.answeredAt());
        Settlement settlement = settle(batch, each -> each.settle(batch, result, epoch));
        result.availability().forEach((name, remaining) -> {
            long changed = batch.changeOf(name);
            lines.recordBatch(name, remaining, changed, batch.startedAt());
            backOff.committed(name, remaining);
        });
        return end(batch, settlement);
    }

    @GuardedBy("this") private void recordClock(Collection<RemainingAvailability> availability, long asOf, long answeredAt) {
        if (lines.recordClock(availability, asOf, answeredAt)) {
            ready.clear().forEach(acquire -> {
                lines.resolveArrival(acquire);
                ready.add(acquire);
            });
        }
    }

    /**
     * Settles a batch whose transaction has failed.
     *
     * @param reached whether the transaction had a connection
     */
    synchronized Settlement.Result finishFailed(Batch batch, Throwable cause, boolean reached) {
        Failure failure = Failure.of(cause);
        if (failure.isVictim()) {
            backOff.conflict(batch.names());
        }
        return end(batch, settle(batch, settlement -> settlement.settleFailed(batch, failure, reached)));
    }

    /** Settles a batch. After an unexpected error all its callers are answered, so that none waits indefinitely. */
    @GuardedBy("this") private Settlement settle(Batch batch, Consumer<Settlement> work) {
        Settlement settlement = new Settlement(ready, lines, room, backOff, limits, closed, clock);
        try {
            work.accept(settlement);
        } catch (RuntimeException | Error unexpected) {
            settlement.answerAll(batch, unexpected);
        }
        releases.addAll(settlement.releasesToRetry());
        return settlement;
    }

    @GuardedBy("this") private Settlement.Result end(Batch batch, Settlement settlement) {
        inFlight.remove(batch);
        batch.names().forEach(name -> inFlightByName.remove(name, batch));
        if (acquiresInFlight >= THRESHOLD) {
            busyUntil = clock.in(BUSY_PERSISTS);
        }
        acquiresInFlight -= batch.members().size();
        if (settlement.hasMetLockedRow()) {
            locksUntil = clock.in(LOCKS_PERSIST);
        }
        boolean woken = wake(batch.names()) | displace(batch.names());
        // a release that was piggy-backed on an earlier batch counts again: that batch may have read its permits as
        // held
        for (Release release : batch.isOfReleases() ? settlement.doneReleases() : List.<Release>of()) {
            woken |= released(release.grant().counts());
        }
        return settlement.result(woken);
    }

    /**
     * Adds a release. The permits of a piggy-backed one count as available at once, since the next batch executes it first.
     *
     * @return whether it is piggy-backed
     */
    synchronized boolean add(Release release) {
        Map<String, Integer> permits = release.grant().counts();
        if (!takesReleases(permits.keySet())) {
            releases.add(release);
            return false;
        }
        piggyBacked.add(release);
        boolean unused = released(permits);
        return true;
    }

    /** Whether releases of these semaphores are piggy-backed on the next batch. */
    synchronized boolean takesReleases(Set<String> names) {
        return !closed
                && limits.maxBatchSize() > 1
                && limits.atOnce() > 1
                && awaitingRows(false) == 0
                && !meetsLocks()
                && !backOff.isPaused(names)
                && (isBusy() || names.stream().anyMatch(this::isAwaited));
    }

    /** The time until a transaction of releases can begin; {@link Long#MAX_VALUE} if there is none to do. */
    synchronized long nanosToReleases() {
        long first = Long.MAX_VALUE;
        for (Release release : releases) {
            first = Math.min(first, release.nanosToDue());
        }
        return first;
    }

    /** Begins a batch of releases only. A lone release waits for row locks, unless it has met one before. */
    synchronized Batch takeReleases() {
        List<Release> taken = new ArrayList<>();
        for (Release release : releases) {
            if (release.isDue() && taken.size() < limits.maxBatchSize() && fits(release, taken)) {
                taken.add(release);
                if (release.isIsolated()) {
                    break;
                }
            }
        }
        taken.forEach(releases::remove);
        boolean waits = taken.size() == 1 && !taken.get(0).isBlocked() && awaitingRows(true) < limits.maxWaiting();
        Set<String> awaited = waits ? taken.get(0).grant().counts().keySet() : Set.of();
        Batch batch = new Batch(true, List.of(), taken, Set.of(), awaited, nobody, clock.now(), Map.of());
        if (!taken.isEmpty()) {
            inFlight.add(batch);
        }
        return batch;
    }

    /** Whether a release fits into a batch: locked releases have batches of their own, which take one more round trip. */
    private static boolean fits(Release release, List<Release> taken) {
        return taken.isEmpty()
                || (!release.isIsolated() && release.isBlocked() == taken.get(0).isBlocked());
    }

    /** Records that this JVM released permits. Returns whether a waiting caller was woken. */
    synchronized boolean released(Map<String, Integer> permits) {
        permits.forEach((name, count) -> {
            changed(name, count);
            lines.adjustAvailable(name, count);
        });
        return wake(permits.keySet());
    }

    /** Records that availability changed by this number of permits; the batches in flight may have read it before. */
    @GuardedBy("this") private void changed(String name, long permits) {
        inFlight.forEach(batch -> batch.changed(name, permits));
    }

    /** Moves waiting callers that can be served, by the estimates of these semaphores, to the ready queue. Returns whether there were any. */
    @GuardedBy("this") private boolean wake(Collection<String> names) {
        if (lines.isEmpty()) {
            return false;
        }
        Map<String, Long> promised = new HashMap<>();
        List<Acquire> woken = lines.wake(names, promised);
        promised.forEach((name, permits) -> changed(name, -permits));
        woken.forEach(ready::add);
        return !woken.isEmpty();
    }

    /** Ends the wait of callers that newer ones have displaced. Returns whether others were woken. */
    @GuardedBy("this") private boolean displace(Collection<String> names) {
        return wake(room.displace(names));
    }

    /** A caller that newer ones have displaced, to be answered with its last refusal; null if there is none. Takes no lock. */
    @SuppressWarnings("GuardedBy") // reads a concurrent queue
    @Nullable Acquire takeDisplaced() {
        return room.displaced().poll();
    }

    /** Where an acquire stands; empty if it does not wait. One that is being tried after it has waited still waits. */
    synchronized List<QueuePosition> positions(Acquire acquire) {
        LineRoom present = room;
        return acquire.stage() == Stage.DONE || !acquire.hasWaited() || !acquire.isWillingToWait()
                ? List.of()
                : lines.positions(acquire, name -> present.triedAhead(name, acquire));
    }

    /** Whether a caller waits for this semaphore. Takes no lock. */
    @SuppressWarnings("GuardedBy") // reads a concurrent map
    boolean isAwaited(String name) {
        return lines.isAwaited(name);
    }

    /** The result of a hand-over: the acquire that got the permits, and whether another waiting caller was woken. */
    record HandoverResult(HandoverOutcome outcome, @Nullable Acquire acquire, boolean woken) {}

    /**
     * Hands permits that a caller of this JVM has released to the first caller for which permits are withheld now, if its terms match and
     * no other instance is ahead. The caller of this method answers the acquire that got them.
     */
    synchronized HandoverResult handOver(ReuseTerms terms) {
        Acquire first = lines.firstWithClaim(terms.name());
        if (first == null && !lines.isAwaited(terms.name())) {
            return new HandoverResult(HandoverOutcome.NOBODY_WAITS, null, false);
        }
        if (closed
                || first == null
                || lines.isNextElsewhere(terms.name())
                || lines.isShared(terms.name()) // a hand-over would not count
                || !terms.equals(first.reuseTerms())) {
            return new HandoverResult(HandoverOutcome.NOT_POSSIBLE, null, false);
        }
        lines.remove(first);
        lines.recordDeparted(first.names());
        HandoverResult done = new HandoverResult(HandoverOutcome.DONE, first, wake(Set.of(terms.name())));
        first.moveTo(Stage.DONE); // last: after a failure the permits are still the releaser's
        return done;
    }

    /** Ends the wait for permits, and has the acquire tried once more. If that takes too long, a refusal with the latest numbers is the answer. */
    synchronized void tryOnceMore(Acquire acquire) {
        acquire.endWait();
        boolean waits = acquire.stage() == Stage.LINE;
        if (waits) {
            List<PermitShortage> latest = lines.shortages(acquire);
            if (!latest.isEmpty()) {
                acquire.found(acquire.attempt().refused(latest));
            }
            removeFromLines(acquire, true);
        }
        if (waits || acquire.stage() == Stage.READY) {
            ready.remove(acquire);
            acquire.pauseUntil(clock.in(Duration.ZERO));
            ready.add(acquire);
        }
    }

    /**
     * Cancels an acquire: it no longer waits for permits, and is not tried again. If it is being written, the outcome of that attempt is its
     * answer; after a lost commit, another attempt finds it. Other acquires may become ready.
     *
     * @return true if no attempt writes for the acquire from now on, although an earlier one may have, if its {@linkplain
     *     Acquire#isOutcomeUnknown() outcome is unknown}; false if it is answered, or being written
     */
    synchronized boolean cancel(Acquire acquire) {
        acquire.endWait();
        if (acquire.stage() == Stage.DONE) {
            return false;
        }
        if (acquire.isInBatch() && !acquire.withdraw()) {
            acquire.setCancelled();
            return false;
        }
        ready.remove(acquire);
        removeFromLines(acquire, false);
        if (acquire.hasWaited()) { // other instances may know of it
            lines.recordDeparted(acquire.names());
        }
        acquire.moveTo(Stage.DONE);
        return true;
    }

    /** Cancels like {@link #cancel}. A thread that is writing a grant for the acquire undoes it. */
    synchronized boolean abandon(Acquire acquire) {
        boolean cancelled = cancel(acquire);
        if (!cancelled && acquire.isInBatch()) {
            acquire.abandon();
        }
        return cancelled;
    }

    @GuardedBy("this") private void removeFromLines(Acquire acquire, boolean isTried) {
        boolean unused = lines.remove(acquire, isTried) && wake(acquire.names());
    }

    /** Whether a batch in flight decides the acquire, or blocks one of its semaphores. */
    synchronized boolean isInFlight(Acquire acquire) {
        return acquire.isInBatch() || (acquire.stage() == Stage.READY && isAnyKept(acquire.names()));
    }

    /**
     * Closes the queue, and removes all acquires. Batches in flight are still decided, but their acquires no longer wait for permits.
     * Releases are executed.
     */
    synchronized List<Acquire> close() {
        closed = true;
        inFlight().forEach(Acquire::endWait);
        List<Acquire> all = ready.clear();
        all.addAll(lines.clear());
        all.forEach(acquire -> acquire.moveTo(Stage.DONE));
        return all;
    }

    /** The acquires of the batches in flight. */
    synchronized List<Acquire> inFlight() {
        return inFlight.stream().flatMap(batch -> batch.members().stream()).toList();
    }

    /**
     * The input of a poll.
     *
     * @param names the semaphores that callers wait for
     * @param inFlight those of them with a batch in flight, or with a caller for the next batch: a batch tells other instances who waits
     * @param queues the waiting callers
     * @param departed the semaphores without waiting callers that callers have left since the last poll
     */
    record Poll(Set<String> names, Set<String> inFlight, OwnLines queues, Set<String> departed) {}

    synchronized Poll beginPoll() {
        Set<String> names = lines.names();
        // the batch that decides such callers writes these records; a poll would leave the callers out
        Set<String> kept = ready.namesOfWoken();
        for (String name : inFlightByName.keySet()) {
            if (isBlocked(name)) {
                kept.add(name);
            }
        }
        Set<String> departed = new HashSet<>(lines.takeDeparted(name -> !kept.contains(name)));
        kept.retainAll(names);
        departed.removeAll(names);
        departed.removeIf(name -> !nobody.isFair(name));
        return new Poll(names, kept, queues(names, false, List.of()), departed);
    }

    /** Records again that callers have left these semaphores, after other instances could not be told. */
    synchronized void recordDeparted(Collection<String> names) {
        lines.recordDeparted(names);
    }

    /** Whether a caller waits, or other instances have to be told that one has left. */
    synchronized boolean needsPolls() {
        return lines.needPolls();
    }

    /**
     * Records a result of the poller, except for semaphores with a batch in flight, which reports their availability. If other instances
     * do not know that callers of this one wait, the first caller is tried, which registers it.
     *
     * @param asOf this JVM's monotonic clock before the database was asked
     * @return whether a waiting caller was woken or displaced, or since the last poll another instance was granted permits that callers wait
     *     for
     */
    synchronized boolean recordPoll(Map<String, RemainingAvailability> polled, long asOf) {
        recordClock(polled.values().stream().filter(each -> !each.isDeleted()).toList(), asOf, clock.now());
        Set<String> idle = new HashSet<>();
        polled.forEach((name, seen) -> {
            if (!isBlocked(name)) {
                idle.add(name);
                lines.recordPoll(name, seen, promisedForLater(name, List.of(), wokenAndFree(name)), asOf);
                if (!seen.isRegistered()) {
                    lines.assumeEnoughForFirst(name);
                }
            }
        });
        boolean woken = wake(idle) | displace(idle);
        return lines.takeGrantedElsewhere() || woken || !room.displaced().isEmpty();
    }

    /** Has the first waiting caller of each semaphore tried, since that may reclaim expired permits. Returns whether there was one. */
    synchronized boolean tryFirst(Collection<String> names) {
        names.forEach(lines::assumeEnoughForFirst);
        return wake(names);
    }

    /**
     * The consequence of a release by another instance.
     *
     * @param woken whether a waiting caller was woken
     * @param isPollDue whether a poll may find permits for a caller that was not woken
     */
    record RemoteRelease(boolean woken, boolean isPollDue) {}

    /**
     * Handles a release of these semaphores by another instance. Wakes the next waiting caller of each if it lacks one permit, no other
     * instance is ahead, and no batch is in flight, which saves a poll.
     */
    synchronized RemoteRelease releasedElsewhere(Collection<String> names) {
        boolean woken = false;
        boolean isPollDue = false;
        for (String name : names) {
            boolean tried = !isBlocked(name) && lines.assumeEnoughIfOneIsMissing(name) && wake(Set.of(name));
            woken |= tried;
            isPollDue |= !tried && lines.isTurnNear(name);
        }
        return new RemoteRelease(woken, isPollDue);
    }

    /**
     * The time until the next poll.
     *
     * @param backOff the interval while nothing happens
     */
    synchronized Duration pollAfter(Duration backOff) {
        return lines.pollAfter(backOff);
    }
}
