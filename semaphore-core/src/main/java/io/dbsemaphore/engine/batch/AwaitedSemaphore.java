package io.dbsemaphore.engine.batch;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.domain.Demand;
import io.dbsemaphore.domain.PolledAvailability;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.domain.ReservationWindow;
import io.dbsemaphore.domain.Waiter;
import io.dbsemaphore.domain.WaitersElsewhere;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The callers of this JVM that wait for permits of one semaphore, and the latest availability read from the database. Guarded
 * by the lock of the {@link GrantQueue}.
 */
final class AwaitedSemaphore {

    /** How long an answer of the database is assumed to hold for further callers. */
    private static final long RECENT = Duration.ofMillis(100).toNanos();

    /** What an exclusive caller waits for: the capacity may be raised meanwhile. */
    private static final long WHOLE_CAPACITY = Integer.MAX_VALUE;

    private final WaitQueue waiting = new WaitQueue();
    private final QueueClock clock;
    private final Turnover turnover;
    private PermitShortage latest;
    private long latestAsOf;
    private long latestReadAt;
    private WaitersElsewhere elsewhere = WaitersElsewhere.NONE;
    private long answeredAt;
    private long available;
    private long maxAvailable = Long.MAX_VALUE;
    private long changedAt;
    private @Nullable Acquire passed;

    /**
     * Creates it without callers.
     *
     * @param latest the numbers with which the first caller was refused
     * @param readAt the database's clock then, in microseconds since 1970
     * @param asOf this JVM's monotonic clock before the database was asked
     */
    AwaitedSemaphore(PermitShortage latest, long readAt, long asOf, QueueClock clock) {
        this.latest = latest;
        this.latestReadAt = readAt;
        this.latestAsOf = asOf;
        this.answeredAt = asOf;
        this.clock = clock;
        this.turnover = new Turnover(clock);
        this.changedAt = clock.now();
    }

    WaitQueue waiting() {
        return waiting;
    }

    @Nullable Acquire first() {
        return waiting.first();
    }

    /** The last caller that was passed since it could not be served; null if all were looked at. */
    @Nullable Acquire passed() {
        return passed;
    }

    void setPassed(@Nullable Acquire last) {
        passed = last;
    }

    /** The first caller for which permits are withheld now; null if there is none. */
    @Nullable Acquire firstWithClaim() {
        return isWindowOpen() ? first() : waiting.firstOfOne();
    }

    /**
     * Adds a caller that the database has refused.
     *
     * @param isShort whether too few permits of this semaphore were available
     */
    void park(Acquire acquire, int count, boolean isShort) {
        long requested = add(acquire, count);
        changedAt = clock.now();
        if (isShort
                && acquire.equals(first())
                && acquire.demandAhead(latest.name()).equals(Demand.NONE)
                && elsewhere.isEmpty()) {
            maxAvailable = requested - 1; // whatever the numbers are, too little was available
        }
    }

    /** Adds a caller for which the database was not asked. */
    void join(Acquire acquire) {
        long unused = add(acquire, requestedBy(acquire));
    }

    /** The database's clock, about. */
    private long databaseClock() {
        return latestReadAt + TimeUnit.NANOSECONDS.toMicros(clock.now() - answeredAt);
    }

    private boolean isWindowOpen() {
        return ReservationWindow.isOpen(databaseClock());
    }

    private long add(Acquire acquire, int count) {
        long requested = Math.max(1, count);
        waiting.add(acquire, acquire.command().exclusive() ? WHOLE_CAPACITY : requested);
        acquire.shortOf().put(latest.name(), requested);
        return requested;
    }

    /** Whether availability was read recently, and the capacity suffices for the acquire. */
    boolean isKnownFor(Acquire acquire) {
        return clock.now() - answeredAt < RECENT
                && (latest.capacity() == 0 || requestedBy(acquire) <= latest.capacity());
    }

    /** Whether too little is available for a new caller, in addition to what earlier callers wait for. */
    boolean isShortFor(Acquire acquire) {
        return available - waiting.demand().withheld(isWindowOpen()) - withheldElsewhere(AcquireState.NOT_REFUSED)
                < Math.max(1, requestedBy(acquire));
    }

    private int requestedBy(Acquire acquire) {
        AcquireCommand command = acquire.command();
        return command.exclusive() ? latest.capacity() : command.permits().getOrDefault(latest.name(), 0);
    }

    /** Whether enough permits are available for a caller, besides those that are withheld for callers ahead. */
    boolean isEnoughFor(Acquire acquire) {
        return available >= neededFor(acquire);
    }

    private long neededFor(Acquire acquire) {
        return Math.max(1, requestedBy(acquire)) + withheldAhead(acquire);
    }

    private long withheldAhead(Acquire acquire) {
        return waiting.demandAhead(acquire).withheld(isWindowOpen())
                + withheldElsewhere(acquire.since());
    }

    /** Whether permits are available for callers behind this one, which waits. */
    boolean isAnyLeftBehind(Acquire acquire) {
        boolean withholds = isWindowOpen() || !acquire.command().isOfSeveral();
        return available > withheldAhead(acquire) + (withholds ? requestedBy(acquire) : 0);
    }

    /** Whether a caller waits for more than the capacity, which was lowered: the database is going to reject it. */
    boolean isExceededBy(Acquire acquire) {
        return latest.capacity() > 0 && requestedBy(acquire) > latest.capacity();
    }

    private long withheldElsewhere(long since) {
        return elsewhere.isEmpty() ? 0 : elsewhere.withheldAhead(since, latest.capacity(), isWindowOpen());
    }

    /** The number of instances with a caller that came before the {@linkplain #next next} of this one. */
    int instancesAhead() {
        Acquire next = next();
        return next == null ? 0 : elsewhere.instancesAhead(next.since(), isWindowOpen());
    }

    /** The first caller for which permits are withheld now, or else the first. */
    private @Nullable Acquire next() {
        Acquire next = firstWithClaim();
        return next == null ? first() : next;
    }

    /** Whether another instance was granted permits since the last call that the next caller lacks. */
    boolean takeGrantedElsewhere() {
        return turnover.takeChanged() && missing() > 0;
    }

    /** How many permits the next caller lacks; less than 1 if it waits for other semaphores only. */
    long missing() {
        Acquire next = next();
        return next == null ? 0 : neededFor(next) - available;
    }

    /** The time until the next caller can probably be served; {@link Long#MAX_VALUE} if that cannot be told. */
    long nanosToTurn() {
        long missing = missing();
        return missing < 1 ? Long.MAX_VALUE : turnover.nanosTo(missing);
    }

    /** Adjusts the number of available permits. */
    void adjustAvailable(long permits) {
        available += permits;
        changedAt = clock.now();
    }

    /** Assumes that enough permits are available for the first caller, so that it is tried. */
    void raiseAvailableForFirst() {
        Acquire first = first();
        available = first == null ? available : Math.max(available, neededFor(first));
    }

    /**
     * Records the availability after a batch.
     *
     * @param changed the change of availability since the batch read it
     * @param asOf this JVM's monotonic clock before the batch read it
     */
    void recordBatch(RemainingAvailability remaining, long changed, long asOf) {
        available = Math.min(remaining.available(), maxAvailable) + changed;
        maxAvailable = Long.MAX_VALUE;
        changedAt = clock.now();
        elsewhere = remaining.elsewhere();
        turnover.read(remaining.fenceBefore(), remaining.fence());
        answered(remaining.capacity(), remaining.held(), Waiter.micros(remaining.readAt()), asOf);
    }

    /** Records what the poller has read, unless availability has changed since. */
    void recordPoll(PolledAvailability polled, long asOf) {
        if (changedAt - asOf < 0) {
            available = polled.available();
        }
        if (changedAt - asOf < 0 && !polled.isDeleted()) {
            elsewhere = polled.elsewhere();
            turnover.read(polled.fence(), polled.fence());
            answered(polled.capacity(), polled.held(), Waiter.micros(polled.readAt()), asOf);
        }
    }

    private void answered(int capacity, long held, long readAt, long asOf) {
        latest = new PermitShortage(latest.name(), capacity, held, latest.requested(), latest.earliestExpiry());
        latestAsOf = asOf;
        latestReadAt = readAt;
        answeredAt = clock.now();
    }

    /** Records the numbers with which a caller was refused. */
    void recordRefusal(PermitShortage shortage) {
        latest = shortage;
    }

    /** Whether the latest numbers were read after this acquire was submitted. */
    boolean isAnsweredFor(Acquire acquire) {
        return latestAsOf - acquire.queuedAt() > 0;
    }

    /** The shortage that a waiting acquire meets, by the latest numbers. */
    PermitShortage shortageOf(Acquire acquire) {
        long spare = Math.max(0, latest.capacity() - latest.held());
        return new PermitShortage(
                latest.name(),
                latest.capacity(),
                latest.held(),
                acquire.shortOf().getOrDefault(latest.name(), 0L).intValue(),
                latest.earliestExpiry(),
                Math.min(spare, withheldAhead(acquire)));
    }
}
