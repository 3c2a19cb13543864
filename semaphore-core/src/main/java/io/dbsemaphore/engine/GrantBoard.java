package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.engine.PendingGrant.Place;
import io.dbsemaphore.persistence.GrantRound;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * What is to be granted in this JVM, and whose turn it is: a queue of orders to be tried, in the order in which they came;
 * the names that rounds are at; and the lines of those for whom there was no room. One lock guards all of it; nothing under
 * it takes long.
 */
final class GrantBoard {

    /** So long after a row was found locked by somebody else, it is rather waited for. */
    private static final Duration CONTESTED = Duration.ofSeconds(1);

    /** With so many callers at once, what one of them wants is better done together with what the others want. */
    private static final int MANY = 4;

    /** So long after they were seen, there are probably many again. */
    private static final Duration COMPANY = Duration.ofMillis(10);

    private final ReentrantLock lock = new ReentrantLock();
    private final int maxWaitingRounds;
    private final int maxBatchSize;
    private final TreeMap<Long, PendingGrant> queue = new TreeMap<>();
    private final BusyNames busy = new BusyNames();
    private final WaitingLines lines = new WaitingLines();
    private boolean closed;
    private long tickets;
    private int waitingRounds;
    private int underWay;
    private Deadline contestedUntil = Deadline.in(Duration.ZERO);
    private Deadline companyUntil = Deadline.in(Duration.ZERO);

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
        this.maxWaitingRounds = maxWaitingRounds;
        this.maxBatchSize = maxBatchSize;
    }

    /**
     * Puts it into the queue.
     *
     * @throws SemaphoreClosedException when closed
     */
    void add(PendingGrant pending) {
        run(() -> {
            if (closed) {
                throw new SemaphoreClosedException();
            }
            pending.setTicket(++tickets);
            again(pending);
        });
    }

    /** How long until a round can begin; {@link Long#MAX_VALUE} when nothing waits for one. */
    long nanosToWork() {
        return get(() -> select(true, true, false).members().isEmpty()
                ? queue.values().stream()
                        .mapToLong(pending -> pending.notBefore().remainingNanos())
                        .filter(nanos -> nanos > 0)
                        .min()
                        .orElse(Long.MAX_VALUE)
                : 0L);
    }

    /** Whether something is queued that this JVM is to keep alive. */
    boolean hasKept() {
        return is(() ->
                queue.values().stream().anyMatch(pending -> pending.order().isKeptAlive()));
    }

    /** Takes the orders of the next round out of the queue, see {@link RoundSelection}. */
    Round take(boolean keptToo, boolean mayWait, boolean takesReleases) {
        return get(() -> {
            RoundSelection selection = select(keptToo, mayWait, takesReleases);
            List<PendingGrant> members = List.copyOf(selection.members());
            Set<String> names = Set.copyOf(selection.names());
            members.forEach(pending -> {
                queue.remove(pending.ticket());
                pending.moveTo(Place.ROUND);
                pending.order().setAskedBefore(lines.askedBefore(pending));
            });
            Set<String> awaited = selection.awaited();
            Round round = new Round(members, names, awaited, busy.begin(names, awaited), System.nanoTime());
            waitingRounds += round.isWaiting() ? 1 : 0;
            underWay += members.size();
            return round;
        });
    }

    private RoundSelection select(boolean keptToo, boolean mayWait, boolean takesReleases) {
        // what waits keeps releases from riding along, which is worth more, unless others are at the same rows
        boolean waitsAtFirst = !takesReleases && (queue.size() < MANY || !contestedUntil.isPassed());
        return RoundSelection.from(
                queue.values(), busy, maxBatchSize, keptToo, mayWait && waitingRounds < maxWaitingRounds, waitsAtFirst);
    }

    /**
     * Whether releases of these semaphores are better left to the next round: when there is one soon, or when somebody
     * waits for their room. Not while other nodes are at the same rows: then rounds wait for these, in the database's line.
     */
    boolean takesReleases(Set<String> names) {
        return is(() ->
                !closed && waitingRounds == 0 && contestedUntil.isPassed() && (isCompany() || lines.isAwaited(names)));
    }

    /** Whether so many callers are at it that nobody should do alone what he wants. */
    boolean hasCompany() {
        return is(this::isCompany);
    }

    private boolean isCompany() {
        return queue.size() + underWay >= MANY || !companyUntil.isPassed();
    }

    /** A round is over. Moves its members to where they belong, and those whose turn it is now back into the queue. */
    void finish(Round round, Runnable moves) {
        run(() -> {
            moves.run();
            waitingRounds -= round.isWaiting() ? 1 : 0;
            if (underWay >= MANY) {
                companyUntil = Deadline.in(COMPANY);
            }
            underWay -= round.members().size();
            busy.end(round.hold());
            call(round.names());
        });
    }

    /** Within {@link #finish}: it is to be tried again. */
    void again(PendingGrant pending) {
        pending.moveTo(Place.QUEUE);
        queue.put(pending.ticket(), pending);
    }

    /** Within {@link #finish}: somebody else had locked a row. */
    void contested() {
        contestedUntil = Deadline.in(CONTESTED);
    }

    /** Within {@link #finish}: it waits for permits. */
    void park(PendingGrant pending) {
        pending.moveTo(Place.LINE);
        lines.park(pending, pending.lastShortages());
        // what was released since the database was asked
        pending.shortOf().keySet().forEach(name -> lines.add(name, busy.takeReleased(name)));
    }

    /** Within {@link #finish}: whether nothing is to be tried again. */
    boolean isClosed() {
        return closed;
    }

    /** Permits of this JVM were released. Returns whether it is somebody's turn. */
    boolean released(Map<String, Integer> permits) {
        return is(() -> {
            permits.forEach((name, count) -> {
                busy.released(name, count);
                lines.add(name, count);
            });
            return call(permits.keySet());
        });
    }

    /**
     * So many permits were free. Returns whether it is somebody's turn. What this JVM is about to grant or has released
     * since is not in these numbers, so they count only where nothing of that kind goes on.
     *
     * @param asOf this JVM's clock before the database was asked
     */
    boolean free(Map<String, Long> permits, long asOf) {
        return is(() -> {
            Set<String> quiet = new HashSet<>(permits.keySet());
            quiet.removeAll(busy.all());
            queue.values().forEach(pending -> quiet.removeAll(pending.names()));
            quiet.forEach(name -> lines.set(name, permits.getOrDefault(name, 0L), asOf));
            return call(quiet);
        });
    }

    /** Something may be taken back from somebody who is gone. Returns whether it is somebody's turn. */
    boolean callFirst(Collection<String> names) {
        return is(() -> {
            names.forEach(lines::callFirst);
            return call(names);
        });
    }

    private boolean call(Collection<String> names) {
        List<PendingGrant> called = lines.call(names);
        called.forEach(this::again);
        return !called.isEmpty();
    }

    /** The names that somebody waits for. */
    Set<String> awaited() {
        return get(lines::names);
    }

    /** The time to wait is over: it is tried once more, wherever it stands. */
    void tryLast(PendingGrant pending) {
        run(() -> {
            pending.order().setPatient(false);
            pending.pauseUntil(Deadline.in(Duration.ZERO));
            if (pending.place() == Place.LINE) {
                leaveLines(pending);
                again(pending);
            }
        });
    }

    /**
     * Its caller gives it up. True when nothing is written for it, now or ever; otherwise it is answered, or being written,
     * and {@code claimed} says what to do about that.
     */
    boolean giveUp(PendingGrant pending, Runnable claimed) {
        return is(() -> {
            if (pending.place() == Place.NOWHERE) {
                return false;
            }
            if (pending.place() == Place.ROUND && !pending.order().withdraw()) {
                claimed.run();
                return false;
            }
            queue.remove(pending.ticket());
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

    /** Closes, and empties the queue and the lines; what is in a round is decided. */
    List<PendingGrant> close() {
        return get(() -> {
            closed = true;
            List<PendingGrant> all = new ArrayList<>(queue.values());
            all.addAll(lines.all());
            queue.clear();
            lines.all().forEach(lines::remove);
            all.forEach(pending -> pending.moveTo(Place.NOWHERE));
            return all;
        });
    }

    private void run(Runnable work) {
        lock.lock();
        try {
            work.run();
        } finally {
            lock.unlock();
        }
    }

    private boolean is(BooleanSupplier work) {
        lock.lock();
        try {
            return work.getAsBoolean();
        } finally {
            lock.unlock();
        }
    }

    private <T> T get(Supplier<T> work) {
        lock.lock();
        try {
            return work.get();
        } finally {
            lock.unlock();
        }
    }
}
