package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.engine.PendingGrant.Place;
import io.dbsemaphore.persistence.Availability;
import io.dbsemaphore.persistence.GrantRound;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;

/**
 * What is to be granted in this JVM, and whose turn it is: a queue of orders to be tried, in the order in which they came;
 * the names that rounds are at; and the lines of those for whom there was no room. One lock guards all of it; nothing under
 * it takes long.
 */
final class GrantBoard {

    /** So many that name the same are tried once more at their deadline; a batch after the next would come too late. */
    static final int MAX_LAST_ATTEMPTS = 500;

    private final Guard guard = new Guard();
    private final Contention contention;
    private final int maxBatchSize;
    private final OrderQueue queue = new OrderQueue();
    private final BusyNames busy = new BusyNames();
    private final HandoverPauses pauses = new HandoverPauses();
    private final WaitingLines lines = new WaitingLines(pauses::isPaused);
    private final PolledWaiters waiters = new PolledWaiters(guard, busy, lines, pauses, this::call);
    private boolean closed;
    private long tickets;

    /** Orders that one transaction is to decide. */
    record Round(
            List<PendingGrant> members, Set<String> names, Set<String> awaited, BusyNames.Hold hold, long begunAt) {

        /** Whether it may have to wait for a row. */
        boolean isWaiting() {
            return !awaited.isEmpty();
        }

        /** What the database is asked for it. */
        GrantRound grants(SortedMap<Long, List<Long>> releases) {
            return new GrantRound(members.stream().map(PendingGrant::order).toList(), awaited, releases);
        }
    }

    /**
     * Makes a board.
     *
     * @param maxWaitingRounds how many rounds at a time may wait for rows that others have locked
     * @param maxBatchSize how many acquires one round decides at most
     */
    GrantBoard(int maxWaitingRounds, int maxBatchSize) {
        contention = new Contention(maxWaitingRounds);
        this.maxBatchSize = maxBatchSize;
    }

    /**
     * Puts it into the queue.
     *
     * @throws SemaphoreClosedException when closed
     */
    void add(PendingGrant pending) {
        guard.run(() -> {
            if (closed) {
                throw new SemaphoreClosedException();
            }
            pending.setTicket(++tickets);
            again(pending);
        });
    }

    /** Those who wait, for whoever looks for what they wait for. */
    PolledWaiters waiters() {
        return waiters;
    }

    /** How long until a round can begin; {@link Long#MAX_VALUE} when nothing waits for one. */
    long nanosToWork() {
        return guard.get(() -> RoundSelection.isPossible(queue, busy) ? 0L : queue.nanosToReady());
    }

    /** Whether something is queued that this JVM is to keep alive. */
    boolean hasKept() {
        return guard.is(queue::hasKept);
    }

    /** Takes the orders of the next round out of the queue, see {@link RoundSelection}. */
    Round take(boolean keptToo, boolean mayWait, boolean takesReleases) {
        return guard.get(() -> {
            RoundSelection selection = select(keptToo, mayWait, takesReleases);
            List<PendingGrant> members = List.copyOf(selection.members());
            Set<String> names = Set.copyOf(selection.names());
            members.forEach(pending -> {
                queue.remove(pending);
                pending.moveTo(Place.ROUND);
                pending.order().setAskedBefore(lines.askedBefore(pending));
            });
            Set<String> awaited = selection.awaited();
            members.forEach(pending -> pending.setRowAwaited(!awaited.isEmpty()));
            Round round = new Round(members, names, awaited, busy.begin(names, awaited), System.nanoTime());
            contention.begin(members.size(), round.isWaiting());
            return round;
        });
    }

    private RoundSelection select(boolean keptToo, boolean mayWait, boolean takesReleases) {
        // what waits keeps releases from riding along, which is worth more, unless others are at the same rows
        boolean waitsAtFirst = !takesReleases && contention.waitsAtFirst(queue.size());
        return RoundSelection.from(queue, busy, maxBatchSize, keptToo, mayWait && contention.mayWait(), waitsAtFirst);
    }

    /**
     * Whether releases of these semaphores are better left to the next round: when there is one soon, or when somebody
     * waits for their room. Not while other nodes are at the same rows: then rounds wait for these, in the database's line.
     * And not when other JVMs are to be {@linkplain HandoverPauses let in}.
     */
    boolean takesReleases(Set<String> names) {
        return guard.is(() -> !pauses.begin(names)
                && !closed
                && !contention.isWithOthers()
                && (isCompany() || lines.isAwaited(names)));
    }

    /** Whether so many callers are at it that nobody should do alone what he wants. */
    boolean hasCompany() {
        return guard.is(this::isCompany);
    }

    private boolean isCompany() {
        return contention.isCompany(queue.size());
    }

    /**
     * A round is over. Moves its members to where they belong, and those whose turn it is now back into the queue.
     *
     * @param availability what it has left of the semaphores whose rows it had locked; nothing where it failed
     */
    void finish(Round round, Map<String, Availability> availability, Runnable moves) {
        guard.run(() -> {
            moves.run();
            availability.forEach((name, left) -> {
                lines.batch(name, left.free() + busy.takeChange(name));
                pauses.batch(name, left, lines.isAwaited(name));
            });
            contention.end(round.members().size(), round.isWaiting());
            busy.end(round.hold());
            call(round.names());
        });
    }

    /** Within {@link #finish}: it is to be tried again. */
    void again(PendingGrant pending) {
        pending.moveTo(Place.QUEUE);
        queue.add(pending);
    }

    /** Within {@link #finish}: somebody else had locked a row. */
    void contested() {
        contention.contested();
    }

    /** Within {@link #finish}: it waits for permits. */
    void park(PendingGrant pending) {
        pending.moveTo(Place.LINE);
        lines.park(pending, pending.lastShortages());
    }

    /** Within {@link #finish}: it was refused, which may be news for those who wait. */
    void refused(PendingGrant pending) {
        lines.refused(pending.lastShortages());
    }

    /** Within {@link #finish}: whether nothing is to be tried again. */
    boolean isClosed() {
        return closed;
    }

    /** Permits of this JVM were released. Returns whether it is somebody's turn. */
    boolean released(Map<String, Integer> permits) {
        return guard.is(() -> {
            permits.forEach(this::add);
            pauses.released(permits.keySet());
            return call(permits.keySet());
        });
    }

    private void add(String name, long permits) {
        busy.changed(name, permits);
        lines.add(name, permits);
    }

    private boolean call(Collection<String> names) {
        List<PendingGrant> called = lines.call(names, (name, permits) -> busy.changed(name, -permits));
        called.forEach(this::again);
        return !called.isEmpty();
    }

    /**
     * The time to wait is over: it is tried once more, wherever it stands, or given up with the latest numbers where so many
     * are tried already that it would have to wait for a batch after the next.
     *
     * @return whether it is going to be decided
     */
    boolean tryLast(PendingGrant pending) {
        return guard.is(() -> {
            pending.order().setPatient(false);
            boolean isQueued = pending.place() == Place.QUEUE;
            if (isQueued) {
                queue.remove(pending);
            }
            pending.pauseUntil(Deadline.in(Duration.ZERO));
            if (isQueued) {
                queue.add(pending);
            } else if (pending.place() == Place.LINE) {
                boolean isCrowd = queue.sizeBeside(pending) >= MAX_LAST_ATTEMPTS;
                if (isCrowd) {
                    pending.refused(lines.shortages(pending));
                }
                leaveLines(pending);
                if (isCrowd) {
                    pending.giveUp();
                } else {
                    again(pending);
                }
            }
            return !pending.isGivenUp();
        });
    }

    /**
     * Its caller gives it up. True when nothing is written for it, now or ever; otherwise it is answered, or being written,
     * and {@code claimed} says what to do about that. From now on it does not wait for permits: where it is refused, it is
     * answered.
     */
    boolean giveUp(PendingGrant pending, Runnable claimed) {
        return guard.is(() -> {
            pending.order().setPatient(false);
            if (pending.place() == Place.NOWHERE) {
                return false;
            }
            if (pending.place() == Place.ROUND && !pending.order().withdraw()) {
                claimed.run();
                return false;
            }
            queue.remove(pending);
            leaveLines(pending);
            pending.giveUp();
            return true;
        });
    }

    private void leaveLines(PendingGrant pending) {
        Set<String> names = Set.copyOf(pending.shortOf().keySet());
        lines.remove(pending);
        call(names);
    }

    /** Whether a batch that is in flight decides about it, or about one of its names before it can be its turn. */
    boolean isUnderWay(PendingGrant pending) {
        return guard.is(() -> pending.place() == Place.ROUND
                || (pending.place() == Place.QUEUE && pending.names().stream().anyMatch(busy::contains)));
    }

    /** Closes, and empties the queue and the lines; what is in a round is decided. */
    List<PendingGrant> close() {
        return guard.get(() -> {
            closed = true;
            List<PendingGrant> all = queue.clear();
            all.addAll(lines.clear());
            all.forEach(pending -> pending.moveTo(Place.NOWHERE));
            return all;
        });
    }
}
