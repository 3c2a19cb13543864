package io.dbsemaphore.engine.batch;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.QueuePosition;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.line.Admission;
import io.dbsemaphore.line.ArrivalClock;
import io.dbsemaphore.line.Ask;
import io.dbsemaphore.line.Demand;
import io.dbsemaphore.line.GrantRate;
import io.dbsemaphore.line.LineAhead;
import io.dbsemaphore.line.LineHead;
import io.dbsemaphore.line.LineLimit;
import io.dbsemaphore.line.OwnLines;
import io.dbsemaphore.line.Place;
import io.dbsemaphore.line.Places;
import io.dbsemaphore.line.ReservationWindow;
import io.dbsemaphore.line.Share;
import io.dbsemaphore.line.ShareTags;
import io.dbsemaphore.line.WaitersElsewhere;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The callers of this JVM that wait for permits, a line for each semaphore. A caller of several semaphores is in the lines of all of
 * them, also of those with enough permits.
 *
 * <p>Each line estimates the available permits, and wakes a caller only when it can probably be granted; the database decides. The
 * estimate is the last number that a batch left or the poller read, plus the permits that this JVM has released since, minus those
 * promised to woken callers. A caller can be served if each of its semaphores has the permits that it asks for, in addition to those
 * withheld for callers ahead: those before it in the line, and those of other instances with a smaller place. Permits are withheld for
 * callers of several semaphores only while the {@linkplain ReservationWindow window} is open.
 *
 * <p>A new caller that would certainly be refused, by recent answers of the database, joins the lines without a transaction
 * ({@link #join}), unless a head start puts it ahead of somebody: other instances have to learn of it at once. Where callers have shares,
 * it joins only while no permit is available. A caller that leaves is recorded as departed until the other instances are told, which
 * otherwise withhold permits for it.
 *
 * <p>{@code WaitingLinesTests} and {@code WorkQueueWaitTests} test it.
 */
final class WaitingLines {

    /** How long an answer of the database is assumed to hold for further callers. */
    private static final long RECENT = Duration.ofMillis(100).toNanos();

    /** How long a line is kept in the order of shares after the last caller with a share has left. */
    private static final long SHARED_FOR = Duration.ofSeconds(10).toNanos();

    /**
     * A scan gives up after this many callers in a row that cannot be served. There are three scans: from the front, from the first caller
     * of a single semaphore, and from where the last scan gave up.
     */
    private static final int MAX_PASSED = 16;

    /** Concurrent, so that {@link #isAwaited(String)} can be asked without the lock. */
    private final Map<String, Line> byName = new ConcurrentHashMap<>();

    private final Set<String> departed = new HashSet<>();
    private final QueueClock clock;
    private final OwnLines limits;
    private final ArrivalClock arrivals;

    /**
     * Creates empty lines.
     *
     * @param limits how many callers may wait, and the weights of their shares
     */
    WaitingLines(QueueClock clock, OwnLines limits) {
        this.clock = clock;
        this.limits = limits;
        arrivals = new ArrivalClock(clock.now());
    }

    /** The callers that wait for one semaphore, and the last known availability. */
    private final class Line {

        private final WaiterTree callers = new WaiterTree();
        private PermitShortage latest;
        private long latestAsOf;
        private long latestReadAt;
        private long answeredAt;
        private WaitersElsewhere elsewhere = WaitersElsewhere.NONE;
        private long available;
        private long changedAt = clock.now();
        /** Where the next scan resumes: the last caller skipped. Null if the scan reached the end. */
        private @Nullable Acquire passed;

        private final Turnover turnover = new Turnover(clock.now());
        private final GrantRate rate = new GrantRate();
        private int withShares;
        private long sharedUntil;
        /** The order of the callers, if any of this or another instance has a share; null if they stand as they came. */
        private @Nullable SharedLine shared;

        private final @Nullable CallersByShare byShare;

        /** Creates an empty line. {@link #recordBatch} must follow. */
        private Line(String name) {
            latest = new PermitShortage(name, 0, 0, 0, Optional.empty(), 0);
            byShare = limits.isLimitedPerShare(name) ? new CallersByShare() : null;
        }

        private boolean isWindowOpen() {
            return ReservationWindow.isOpen(latestReadAt + TimeUnit.NANOSECONDS.toMicros(clock.now() - answeredAt));
        }

        /** The first caller for which permits are withheld now; null if there is none. */
        private @Nullable Acquire firstWithClaim() {
            return isWindowOpen() ? first() : firstOfOneSemaphore();
        }

        private @Nullable Acquire first() {
            return shared == null ? callers.first() : shared.first(isWindowOpen());
        }

        private @Nullable Acquire firstOfOneSemaphore() {
            return shared == null ? callers.firstOfOneSemaphore() : shared.firstOfOneSemaphore(isWindowOpen());
        }

        private @Nullable Acquire after(Acquire acquire) {
            return shared == null ? callers.after(acquire) : shared.after(acquire, isWindowOpen());
        }

        /** The first callers, in order, the number of all, and the earliest arrival. */
        private LineHead head() {
            return shared == null ? callers.toLocal() : shared.head(callers.size(), callers.since());
        }

        /** The first caller for which permits are withheld now, or else the first of all. */
        private @Nullable Acquire nextInTurn() {
            Acquire next = firstWithClaim();
            return next == null ? first() : next;
        }

        private void add(Acquire acquire) {
            callers.add(acquire, askOf(acquire));
            withShares += acquire.share().isNone() ? 0 : 1;
            if (byShare != null) {
                byShare.add(acquire);
            }
            if (shared == null) {
                share();
            } else {
                shared.add(acquire);
            }
        }

        /** @param isTried whether it leaves to be tried */
        private boolean remove(Acquire acquire, boolean isTried) {
            if (!callers.remove(acquire)) {
                return false;
            }
            withShares -= acquire.share().isNone() ? 0 : 1;
            if (byShare != null) {
                byShare.remove(acquire);
            }
            if (shared != null) {
                shared.remove(acquire, isTried);
            }
            return true;
        }

        /**
         * Begins or ends to keep the callers in the order of their shares. Ends when no share has been seen for a while, or at once if an
         * instance waits that knows no shares.
         */
        private void share() {
            long now = clock.now();
            boolean hasShares = withShares > 0 || elsewhere.hasShares();
            sharedUntil = hasShares ? now + SHARED_FOR : sharedUntil;
            boolean isShared = elsewhere.knowShares() && (hasShares || (shared != null && now - sharedUntil < 0));
            if (isShared && shared == null) {
                shared = new SharedLine(latest.name(), share -> limits.weights().applyAsInt(latest.name(), share));
                for (Acquire next = callers.first(); next != null; next = callers.after(next)) {
                    shared.add(next);
                }
            } else if (!isShared) {
                shared = null;
            }
        }

        private Ask askOf(Acquire acquire) {
            return Objects.requireNonNull(acquire.charges().get(latest.name()));
        }

        /** The number of permits that are promised to a caller which is woken. */
        private long promisedTo(Acquire acquire) {
            return askOf(acquire).needs(latest.capacity());
        }

        private long withheldAhead(Acquire acquire) {
            return line(acquire).withheld(latest.capacity());
        }

        /** The line of this semaphore, as seen by an acquire. */
        private LineAhead line(Acquire acquire) {
            if (shared != null) {
                return shared.line(acquire, callers.demand(), isWindowOpen());
            }
            return new LineAhead(
                    callers.demandAhead(acquire), elsewhere, acquire.position().standsAt(), isWindowOpen());
        }

        private Admission admission(Acquire acquire) {
            return admission(acquire, line(acquire));
        }

        private Admission admission(Acquire acquire, LineAhead line) {
            return Admission.of(latest.capacity(), available, line, askOf(acquire));
        }

        /** Whether availability was read recently, and the capacity suffices for a new caller. */
        private boolean isKnownFor(Acquire acquire) {
            return clock.now() - answeredAt < RECENT && !askOf(acquire).exceeds(latest.capacity());
        }

        /**
         * Whether all callers that wait are ahead of a new one, which they always are if it has no head start. Where permits are shared,
         * whether none is available: a new caller may move the turns of those that wait.
         */
        private boolean isAhead(Acquire acquire) {
            if (shared != null || !acquire.share().isNone()) {
                return shared != null && available < 1;
            }
            return acquire.position().headStart() == 0
                    || (callers.after(acquire) == null && elsewhere.areAhead(acquire.place()));
        }

        /** Whether permits are available for callers behind this one, although it waits. */
        private boolean isAnyLeftBehind(Acquire acquire) {
            return available > line(acquire).withheldBehind(latest.capacity(), askOf(acquire), acquire.isOfSeveral());
        }

        /** Takes the callers that can be served, by scans that end after {@link #MAX_PASSED} callers that cannot. */
        private void serve(Consumer<Acquire> taken) {
            Acquire last = serve(first(), taken);
            if (last != null) {
                Acquire unused = serve(firstOfOneSemaphore(), taken);
                passed = serve(after(passed == null ? last : passed), taken);
            }
        }

        /** Takes callers from this one on. Returns the last caller scanned if others behind it may be served; null otherwise. */
        private @Nullable Acquire serve(@Nullable Acquire from, Consumer<Acquire> taken) {
            int passedOver = 0;
            for (Acquire next = from; next != null; next = after(next)) {
                if (canBeServed(next)) {
                    taken.accept(next);
                } else if (!isAnyLeftBehind(next)) {
                    return null;
                } else if (++passedOver == MAX_PASSED) {
                    return next;
                }
            }
            return null;
        }

        private void adjustAvailable(long permits) {
            available += permits;
            changedAt = clock.now();
        }

        /** Assumes that enough permits are available for a caller, so that it is tried. */
        private void raiseAvailableFor(@Nullable Acquire acquire) {
            available += acquire == null ? 0 : Math.max(0, admission(acquire).missing());
        }

        private void recordBatch(RemainingAvailability remaining, long changed, long asOf) {
            available = remaining.available() + changed;
            changedAt = clock.now();
            answered(remaining, asOf);
        }

        private void recordPoll(RemainingAvailability polled, long promised, long asOf) {
            if (changedAt - asOf < 0) {
                available = polled.available() - promised;
                if (!polled.isDeleted()) {
                    answered(polled, asOf);
                }
            }
        }

        private void answered(RemainingAvailability read, long asOf) {
            elsewhere = read.elsewhere();
            turnover.record(read.fenceBefore(), read.fence(), clock.now());
            latest = new PermitShortage(
                    latest.name(), read.capacity(), read.held(), latest.requested(), latest.earliestExpiry());
            latestAsOf = asOf;
            latestReadAt = Place.micros(read.readAt());
            answeredAt = clock.now();
            rate.read(read.fence(), answeredAt);
            share();
            if (shared != null) {
                shared.answered(read.capacity(), elsewhere, read.tags(), answeredAt);
            }
        }

        /** Whether, since the last call, another instance was granted permits that the next caller lacks. */
        private boolean takeGrantedElsewhere() {
            return turnover.takeGranted() && missing() > 0;
        }

        /** How many permits the next caller lacks; less than 1 if it waits for other semaphores only. */
        private long missing() {
            Acquire next = nextInTurn();
            return next == null ? 0 : admission(next).missing();
        }

        /** The number of instances with a caller that is served before the next of this one. */
        private int instancesAhead() {
            Acquire next = nextInTurn();
            if (next == null) {
                return 0;
            }
            LineAhead line = line(next);
            return line.elsewhere().instancesAhead(line.place(), isWindowOpen());
        }

        /** The time until others are granted as many permits as the next caller lacks, at their present rate; or {@link Long#MAX_VALUE}. */
        private long nanosToTurn() {
            long missing = missing();
            return missing < 1 ? Long.MAX_VALUE : turnover.nanosTo(missing, clock.now());
        }

        /** @param tried the number of callers ahead that are not in the line, since they are being tried */
        private QueuePosition position(Acquire acquire, long tried) {
            LineAhead line = line(acquire);
            if (shared != null) {
                long ahead = line.callers() + shared.triedAhead(acquire);
                boolean mayMoreBeAhead = line.mayMoreBeAhead() || !shared.knows(acquire);
                return new QueuePosition(latest.name(), ahead, mayMoreBeAhead, expectedWait(ahead));
            }
            long ahead = line.callers() + tried;
            return new QueuePosition(latest.name(), ahead, line.mayMoreBeAhead(), expectedWait(ahead));
        }

        /** Unknown while the semaphore is paused, and where permits are reused: their next callers raise no fence. */
        private Optional<Duration> expectedWait(long ahead) {
            return latest.capacity() == 0 || limits.reused().test(latest.name())
                    ? Optional.empty()
                    : rate.timeOf(ahead + 1, clock.now());
        }

        private int size(Share share) {
            return byShare == null ? 0 : byShare.size(share);
        }

        private @Nullable Acquire earliest(Share share) {
            return byShare == null ? null : byShare.earliest(share);
        }

        /** The shares that callers of this or another instance may have joined since the last call. */
        private Set<Share> sharesToDisplace() {
            if (byShare == null) {
                return Set.of();
            }
            Set<Share> joined = new HashSet<>(elsewhere.shares());
            joined.addAll(byShare.takeJoined());
            return joined;
        }

        /** The shortage of an acquire that newer ones have displaced, as many as may wait. */
        private PermitShortage displacement(Acquire acquire, int newer) {
            return new PermitShortage(
                    latest.name(),
                    latest.capacity(),
                    latest.held(),
                    askOf(acquire).needs(latest.capacity()),
                    latest.earliestExpiry(),
                    0,
                    newer,
                    OptionalInt.of(newer),
                    true);
        }

        /** The shortage of a waiting acquire, by the latest numbers. */
        private PermitShortage shortageOf(Acquire acquire) {
            long spare = Math.max(0, latest.capacity() - latest.held());
            PermitShortage shortage = new PermitShortage(
                    latest.name(),
                    latest.capacity(),
                    latest.held(),
                    askOf(acquire).needs(latest.capacity()),
                    latest.earliestExpiry(),
                    Math.min(spare, withheldAhead(acquire)),
                    line(acquire).callers(),
                    OptionalInt.empty(),
                    false);
            return estimated(shortage);
        }

        private PermitShortage estimated(PermitShortage shortage) {
            return expectedWait(shortage.ahead())
                    .map(shortage::withExpectedWait)
                    .orElse(shortage);
        }
    }

    /** Records when a caller has come. */
    void arrived(Acquire acquire) {
        acquire.cameAt(arrivals.arrive(clock.now()));
    }

    /** Records when a caller has come, if that was not known then and is now. */
    void resolveArrival(Acquire acquire) {
        acquire.moveTo(
                acquire.position().with(arrivals.resolve(acquire.position().arrival(), clock.now())));
    }

    /**
     * Records the database's clock from the answer to one transaction.
     *
     * @param asOf this JVM's monotonic clock before the database was asked
     * @param answeredAt this JVM's monotonic clock when it had answered
     * @return whether it is now known when callers have come of whom it was not
     */
    boolean recordClock(Collection<RemainingAvailability> availability, long asOf, long answeredAt) {
        return !availability.isEmpty() && arrivals.read(readAt(availability), asOf, answeredAt);
    }

    /** When these were read, all by one statement. */
    private static long readAt(Collection<RemainingAvailability> availability) {
        return Place.micros(Collections.max(availability, Comparator.comparing(RemainingAvailability::readAt))
                .readAt());
    }

    boolean isEmpty() {
        return byName.isEmpty();
    }

    /** The semaphores that callers wait for. */
    Set<String> names() {
        return Set.copyOf(byName.keySet());
    }

    /** Whether a caller waits, or other instances have to be told that one has left. */
    boolean needPolls() {
        return !byName.isEmpty() || !departed.isEmpty();
    }

    /** Whether a caller waits for this semaphore. May be called without the lock. */
    boolean isAwaited(String name) {
        return byName.containsKey(name);
    }

    private Optional<Line> find(String name) {
        return Optional.ofNullable(byName.get(name));
    }

    /** The first waiting caller for which permits of this semaphore are withheld; null if there is none. */
    @Nullable Acquire firstWithClaim(String name) {
        Line queue = byName.get(name);
        return queue == null ? null : queue.firstWithClaim();
    }

    /** The number of callers that wait for a semaphore. */
    int size(String name) {
        Line queue = byName.get(name);
        return queue == null ? 0 : queue.callers.size();
    }

    /** The number of callers with a share that wait for a semaphore; 0 if it is not limited. */
    int size(String name, Share share) {
        Line queue = byName.get(name);
        return queue == null ? 0 : queue.size(share);
    }

    /** The callers of other instances that wait for a semaphore; none if no caller of this one does. */
    WaitersElsewhere elsewhere(String name) {
        Line queue = byName.get(name);
        return queue == null ? WaitersElsewhere.NONE : queue.elsewhere;
    }

    /** The callers that wait for a semaphore, as recorded for other instances. */
    LineHead local(String name) {
        return find(name).map(Line::head).orElse(LineHead.EMPTY);
    }

    /** The number of permits that earlier callers of this JVM wait for, for each semaphore of the acquire. */
    Map<String, Demand> demandAhead(Acquire acquire) {
        if (byName.isEmpty()) {
            return Map.of();
        }
        Map<String, Demand> demand = new HashMap<>();
        acquire.names()
                .forEach(name -> find(name).ifPresent(queue -> demand.put(name, queue.callers.demandAhead(acquire))));
        return demand;
    }

    /** What is known of the tags of an acquire that is about to be tried, for each line that has more keys than it records. */
    Map<String, ShareTags.Known> knownTags(Acquire acquire) {
        Map<String, ShareTags.Known> known = new HashMap<>();
        for (String name : byName.isEmpty() ? Set.<String>of() : acquire.names()) {
            Line queue = byName.get(name);
            ShareTags.Known tags = queue == null || queue.shared == null ? null : queue.shared.known(acquire);
            if (tags != null) {
                known.put(name, tags);
            }
        }
        return known;
    }

    /**
     * Adds a refused acquire to the lines of its semaphores, all or none of them.
     *
     * @param answeredAt this JVM's monotonic clock when the database had answered in the transaction that refused it
     */
    void park(Acquire acquire, Map<String, RemainingAvailability> availability, long answeredAt) {
        acquire.moveTo(acquire.position().refused(new Places(readAt(availability.values()), answeredAt)));
        if (!availability.keySet().containsAll(acquire.names())) {
            throw new IllegalStateException(acquire.names() + " are not among " + availability.keySet());
        }
        acquire.names().forEach(name -> byName.computeIfAbsent(name, Line::new).add(acquire));
        recordRefusal(acquire.attempt().shortages());
    }

    /**
     * Adds a new acquire to the lines of its semaphores without asking the database, if recent answers imply that it would be refused.
     *
     * @param hasRoom whether an acquire may wait
     * @return whether it was added
     */
    boolean join(Acquire acquire, Predicate<Acquire> hasRoom) {
        List<Line> all = new ArrayList<>();
        boolean isShort = false;
        for (String name : acquire.mayJoinUnasked() ? acquire.names() : Set.<String>of()) {
            Line queue = byName.get(name);
            if (queue == null || !queue.isKnownFor(acquire) || !queue.isAhead(acquire)) {
                return false;
            }
            isShort |= !queue.admission(acquire).isNow();
            all.add(queue);
        }
        if (!isShort || !hasRoom.test(acquire)) {
            return false;
        }
        acquire.moveTo(acquire.position().joined());
        all.forEach(queue -> queue.add(acquire));
        return true;
    }

    /** Removes an acquire from all lines. Returns whether it was in them. */
    boolean remove(Acquire acquire) {
        return remove(acquire, false);
    }

    /**
     * Removes an acquire from all lines. Returns whether it was in them.
     *
     * @param isTried whether it leaves to be tried, and so keeps its turn among callers with shares until it is answered
     */
    boolean remove(Acquire acquire, boolean isTried) {
        boolean removed = false;
        for (String name : acquire.names()) {
            Line queue = byName.get(name);
            if (queue != null && queue.remove(acquire, isTried)) {
                removed = true;
                if (queue.callers.isEmpty()) {
                    byName.remove(name);
                }
            }
        }
        return removed;
    }

    /**
     * Removes and returns the callers of a line that came first, while as many newer callers wait as may: those with a share that has too
     * many callers, then those of the whole line.
     */
    List<Acquire> removeDisplaced(String name) {
        List<Acquire> displaced = new ArrayList<>();
        find(name).ifPresent(line -> line.sharesToDisplace().forEach(share -> displaceOf(line, share, displaced)));
        for (Line line = byName.get(name); line != null; line = byName.get(name)) {
            Acquire oldest = Objects.requireNonNull(line.callers.earliest());
            long newer = line.callers.size() - 1 + line.elsewhere.callersSince(line.callers.since());
            if (!limits.limit(name).isDisplacedBy(newer)) {
                break;
            }
            displace(oldest, line.displacement(oldest, limits.limit(name).max()), displaced);
        }
        return displaced;
    }

    private void displaceOf(Line line, Share share, List<Acquire> displaced) {
        String name = line.latest.name();
        LineLimit limit = limits.limit(name, share);
        for (Acquire oldest = line.earliest(share); oldest != null; oldest = line.earliest(share)) {
            long arrival = oldest.toWaiter(name).arrival();
            if (!limit.isDisplacedBy(line.size(share) - 1 + line.elsewhere.callersSince(arrival, share))) {
                break;
            }
            displace(oldest, line.displacement(oldest, limit.max()).withFullShare(share.path()), displaced);
        }
    }

    private void displace(Acquire oldest, PermitShortage shortage, List<Acquire> displaced) {
        oldest.found(oldest.attempt().refused(List.of(shortage)));
        boolean unused = remove(oldest);
        displaced.add(oldest);
    }

    Collection<Acquire> clear() {
        Set<Acquire> all = new LinkedHashSet<>();
        for (Line queue : byName.values()) {
            for (Acquire next = queue.callers.first(); next != null; next = queue.callers.after(next)) {
                all.add(next);
            }
        }
        byName.clear();
        return all;
    }

    /**
     * Removes the callers of these semaphores that can be served, and callers of further semaphores that are next then.
     *
     * @param reserved receives the number of permits that are reserved for them, by semaphore
     */
    List<Acquire> wake(Collection<String> names, Map<String, Long> reserved) {
        List<Acquire> woken = new ArrayList<>();
        Deque<String> changed = new ArrayDeque<>(names);
        while (!changed.isEmpty()) {
            find(changed.remove())
                    .ifPresent(queue -> queue.serve(acquire -> {
                        acquire.names()
                                .forEach(name -> find(name).ifPresent(each -> {
                                    long promised = each.promisedTo(acquire);
                                    each.adjustAvailable(-promised);
                                    reserved.merge(name, promised, Long::sum);
                                }));
                        boolean removed = remove(acquire, true);
                        woken.add(acquire);
                        changed.addAll(removed && acquire.isOfSeveral() ? acquire.names() : Set.of());
                    }));
        }
        return woken;
    }

    /** Whether all semaphores of a caller have enough permits, or it asks for more than a lowered capacity, so that waiting is pointless. */
    private boolean canBeServed(Acquire acquire) {
        boolean isEnough = true;
        for (String name : acquire.names()) {
            Admission admission = Objects.requireNonNull(byName.get(name)).admission(acquire);
            if (admission.isNever()) {
                return true;
            }
            isEnough &= admission.isNow();
        }
        return isEnough;
    }

    /**
     * Raises the estimate to the needs of the first caller, so that the next {@link #wake} has it tried: its acquire may reclaim expired
     * permits. If another of its semaphores has too few, the first caller without other semaphores is tried instead.
     */
    void assumeEnoughForFirst(String name) {
        find(name).ifPresent(queue -> {
            Acquire first = queue.first();
            queue.raiseAvailableFor(first);
            if (first != null && !canBeServed(first)) {
                queue.raiseAvailableFor(queue.firstOfOneSemaphore());
            }
        });
    }

    /**
     * Raises the estimate if a caller of this instance is next, as far as is known, and lacks one permit: the next {@link #wake} then has
     * it tried. Returns whether it did.
     */
    boolean assumeEnoughIfOneIsMissing(String name) {
        Line queue = byName.get(name);
        if (queue == null || queue.instancesAhead() > 0 || queue.missing() != 1) {
            return false;
        }
        queue.raiseAvailableFor(queue.nextInTurn());
        return true;
    }

    /** Adjusts the number of available permits. */
    void adjustAvailable(String name, long permits) {
        find(name).ifPresent(queue -> queue.adjustAvailable(permits));
    }

    /**
     * Records the availability after a batch.
     *
     * @param changed the change of availability since the batch read it
     * @param asOf this JVM's monotonic clock before the batch read it
     */
    void recordBatch(String name, RemainingAvailability remaining, long changed, long asOf) {
        find(name).ifPresent(queue -> queue.recordBatch(remaining, changed, asOf));
    }

    /**
     * Records a result of the poller, unless availability has changed since.
     *
     * @param promised the permits that are promised to callers which are being tried
     */
    void recordPoll(String name, RemainingAvailability polled, long promised, long asOf) {
        find(name).ifPresent(queue -> queue.recordPoll(polled, promised, asOf));
    }

    /** Records the numbers of a refusal, which are newer than those of the waiting callers. */
    void recordRefusal(List<PermitShortage> shortages) {
        shortages.forEach(shortage -> find(shortage.name()).ifPresent(queue -> queue.latest = shortage));
    }

    /** The shortages of a waiting acquire, by the latest numbers; empty if those were read before its submission. */
    List<PermitShortage> shortages(Acquire acquire) {
        List<PermitShortage> shortages = new ArrayList<>();
        for (String name : acquire.names()) {
            Line queue = byName.get(name);
            if (queue == null || queue.latestAsOf - acquire.queuedAt() <= 0) {
                return List.of();
            }
            PermitShortage shortage = queue.shortageOf(acquire);
            if (shortage.held() + shortage.withheld() + shortage.requested() > shortage.capacity()) {
                shortages.add(shortage);
            }
        }
        return shortages;
    }

    /**
     * Where an acquire stands that waits, or is being tried after it has waited, by name.
     *
     * @param tried the number of callers ahead of it that are being tried
     */
    List<QueuePosition> positions(Acquire acquire, ToLongFunction<String> tried) {
        return acquire.names().stream()
                .sorted()
                .map(name -> find(name)
                        .map(line -> line.position(acquire, tried.applyAsLong(name)))
                        .orElseGet(() -> new QueuePosition(name, tried.applyAsLong(name), false, Optional.empty())))
                .toList();
    }

    /** These shortages with the time that the caller would have waited longer, where callers wait and that is known. */
    List<PermitShortage> estimated(List<PermitShortage> shortages) {
        return byName.isEmpty()
                ? shortages
                : shortages.stream()
                        .map(each -> find(each.name())
                                .map(line -> line.estimated(each))
                                .orElse(each))
                        .toList();
    }

    /** Records that a caller no longer waits for these semaphores, of which other instances have to be told. */
    void recordDeparted(Collection<String> names) {
        departed.addAll(names);
    }

    /** Removes and returns semaphores that callers have left since the last call. */
    Set<String> takeDeparted(Predicate<String> filter) {
        Set<String> taken = departed.stream().filter(filter).collect(Collectors.toUnmodifiableSet());
        departed.removeAll(taken);
        return taken;
    }

    /** Whether callers that wait for a semaphore are in the order of their shares. */
    boolean isShared(String name) {
        Line queue = byName.get(name);
        return queue != null && queue.shared != null;
    }

    /** Whether a caller of another instance comes before the first of this one. */
    boolean isNextElsewhere(String name) {
        Line queue = byName.get(name);
        return queue != null && queue.instancesAhead() > 0;
    }

    /** Whether, as far as is known, at most one instance is ahead of the next caller of this one. */
    boolean isTurnNear(String name) {
        Line queue = byName.get(name);
        return queue != null && queue.instancesAhead() <= 1;
    }

    /** Whether another instance was granted permits that a caller lacks, since the last call. */
    boolean takeGrantedElsewhere() {
        boolean any = false;
        for (Line queue : byName.values()) {
            any |= queue.takeGrantedElsewhere();
        }
        return any;
    }

    /** The time until the next poll: that of the most urgent semaphore, since one poll reads all. */
    Duration pollAfter(Duration backOff) {
        return byName.values().stream()
                .map(queue -> PollInterval.of(queue.instancesAhead(), queue.nanosToTurn(), backOff))
                .min(Comparator.naturalOrder())
                .orElseGet(() ->
                        PollInterval.of(0, Long.MAX_VALUE, backOff)); // only to tell others of callers that have left
    }
}
