package io.dbsemaphore.engine.batch;

import io.dbsemaphore.engine.batch.Acquire.Stage;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/**
 * The acquires that are to be tried, in arrival order; those that pause before another attempt are kept apart until the pause
 * has ended. They are grouped by the semaphores they name, so that a selection skips thousands of the same semaphores in one
 * step. Guarded by the lock of the {@link GrantQueue}.
 */
final class ReadyQueue {

    private static final Comparator<Acquire> BY_PAUSE =
            Comparator.comparing(Acquire::notBefore).thenComparing(Acquire::ticket);

    private final Map<Group, TreeMap<Long, Acquire>> ready = new HashMap<>();
    /** The acquires that are ready to wait for their external ids. Those that have not waited yet come first. */
    private final TreeSet<Acquire> awaitingIds = new TreeSet<>(BY_PAUSE);

    private final TreeSet<Acquire> pausing = new TreeSet<>(BY_PAUSE);
    private final QueueClock clock;
    private int size;
    private int keptAlive;

    ReadyQueue(QueueClock clock) {
        this.clock = clock;
    }

    /** What acquires have in common that are selected or skipped together. */
    private record Group(Set<String> names, boolean keptAlive) {

        static Group of(Acquire acquire) {
            return new Group(acquire.names(), acquire.command().isKeptAlive());
        }
    }

    /** The position of a selection within acquires that are offered in this order. */
    private static final class Cursor {

        private final Iterator<Acquire> rest;
        private final boolean sameNames;
        private final long firstTicket;
        private Acquire next;

        private Cursor(Collection<Acquire> acquires, boolean sameNames, long firstTicket) {
            this.rest = acquires.iterator();
            this.sameNames = sameNames;
            this.firstTicket = firstTicket;
            next = rest.next();
        }

        /** The acquires of a group, each at the position of its ticket. */
        static Cursor ofGroup(SortedMap<Long, Acquire> group) {
            return new Cursor(group.values(), true, 0);
        }

        /** All of these at the position of the first ticket among them, since any of them may take the turn of that one. */
        static Cursor atFirstTicket(Collection<Acquire> acquires) {
            return new Cursor(
                    acquires,
                    false,
                    acquires.stream().mapToLong(Acquire::ticket).min().orElseThrow());
        }

        boolean advance() {
            boolean more = rest.hasNext();
            next = more ? rest.next() : next;
            return more;
        }

        long ticket() {
            return sameNames ? next.ticket() : firstTicket;
        }
    }

    /** Adds an acquire that is not in the queue, at the position of its ticket. */
    void add(Acquire acquire) {
        acquire.moveTo(Stage.READY);
        size++;
        keptAlive += acquire.command().isKeptAlive() ? 1 : 0;
        if (clock.isPassed(acquire.notBefore())) {
            makeReady(acquire);
        } else {
            pausing.add(acquire);
        }
    }

    private void makeReady(Acquire acquire) {
        if (acquire.isExternalIdLocked()) {
            awaitingIds.add(acquire);
            return;
        }
        ready.computeIfAbsent(Group.of(acquire), group -> new TreeMap<>()).put(acquire.ticket(), acquire);
    }

    /** Removes an acquire, if present. Its pause must not have been changed since it was added. */
    void remove(Acquire acquire) {
        if (pausing.remove(acquire) || awaitingIds.remove(acquire) || removeReady(acquire)) {
            size--;
            keptAlive -= acquire.command().isKeptAlive() ? 1 : 0;
        }
    }

    private boolean removeReady(Acquire acquire) {
        Group group = Group.of(acquire);
        TreeMap<Long, Acquire> members = ready.get(group);
        if (members == null || members.remove(acquire.ticket()) == null) {
            return false;
        }
        if (members.isEmpty()) {
            ready.remove(group);
        }
        return true;
    }

    int size() {
        return size;
    }

    /** The number of ready acquires of the same semaphores. */
    int sizeOfGroup(Acquire acquire) {
        TreeMap<Long, Acquire> members = ready.get(Group.of(acquire));
        return members == null ? 0 : members.size();
    }

    /** Whether there is an acquire whose grant this JVM keeps alive. */
    boolean hasKeptAlive() {
        return keptAlive > 0;
    }

    /** The time until the first pause ends; {@link Long#MAX_VALUE} when there is none. */
    long nanosToReady() {
        return pausing.isEmpty()
                ? Long.MAX_VALUE
                : clock.remainingNanos(pausing.first().notBefore());
    }

    /**
     * Offers the ready acquires, one by one in arrival order, until no more are wanted. Those that wait for their external ids
     * are offered at the turn of the first of them, in the order in which their pauses ended.
     *
     * @param withKeptAlive whether to offer acquires whose grants this JVM keeps alive
     * @param selection returns false when all acquires that follow with the same names need not be offered
     */
    void offer(boolean withKeptAlive, BooleanSupplier isFull, Predicate<Acquire> selection) {
        while (nanosToReady() <= 0) {
            makeReady(pausing.pollFirst());
        }
        PriorityQueue<Cursor> cursors = new PriorityQueue<>(Comparator.comparingLong(Cursor::ticket));
        ready.forEach((group, members) -> {
            if (withKeptAlive || !group.keptAlive()) {
                cursors.add(Cursor.ofGroup(members));
            }
        });
        List<Acquire> awaiting = awaitingIds.stream()
                .filter(acquire -> withKeptAlive || !acquire.command().isKeptAlive())
                .toList();
        if (!awaiting.isEmpty()) {
            cursors.add(Cursor.atFirstTicket(awaiting));
        }
        while (!cursors.isEmpty() && !isFull.getAsBoolean()) {
            Cursor first = cursors.remove();
            boolean offersMore = selection.test(first.next) || !first.sameNames;
            if (offersMore && first.advance()) {
                cursors.add(first);
            }
        }
    }

    List<Acquire> clear() {
        List<Acquire> all = new ArrayList<>(pausing);
        all.addAll(awaitingIds);
        ready.values().forEach(members -> all.addAll(members.values()));
        pausing.clear();
        awaitingIds.clear();
        ready.clear();
        size = 0;
        keptAlive = 0;
        return all;
    }
}
