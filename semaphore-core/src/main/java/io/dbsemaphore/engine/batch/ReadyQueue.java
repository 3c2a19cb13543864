package io.dbsemaphore.engine.batch;

import java.util.ArrayList;
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

/**
 * Orders that are to be tried, in the order in which they came; those that pause stand aside until their pause is over.
 * Grouped by what they name, so that a selection passes over thousands that name the same by one step. Guarded by the lock
 * of the {@link GrantQueue}.
 */
final class ReadyQueue {

    private final Map<Group, TreeMap<Long, QueuedAcquire>> ready = new HashMap<>();
    private final TreeSet<QueuedAcquire> pausing =
            new TreeSet<>(Comparator.comparing(QueuedAcquire::notBefore).thenComparing(QueuedAcquire::ticket));
    private final QueueClock clock;
    private int size;
    private int kept;

    ReadyQueue(QueueClock clock) {
        this.clock = clock;
    }

    /** What orders have in common that are selected or passed over together. */
    private record Group(Set<String> names, boolean kept) {

        static Group of(QueuedAcquire pending) {
            return new Group(pending.names(), pending.command().isKeptAlive());
        }
    }

    /** Where a selection is within a group. */
    private static final class Cursor {

        private final Iterator<QueuedAcquire> rest;
        private QueuedAcquire next;

        Cursor(SortedMap<Long, QueuedAcquire> group) {
            rest = group.values().iterator();
            next = rest.next();
        }

        boolean advance() {
            boolean more = rest.hasNext();
            next = more ? rest.next() : next;
            return more;
        }

        long ticket() {
            return next.ticket();
        }
    }

    /** Puts it in its place; it is not in the queue yet. */
    void add(QueuedAcquire pending) {
        size++;
        kept += pending.command().isKeptAlive() ? 1 : 0;
        if (clock.isPassed(pending.notBefore())) {
            makeReady(pending);
        } else {
            pausing.add(pending);
        }
    }

    private void makeReady(QueuedAcquire pending) {
        ready.computeIfAbsent(Group.of(pending), group -> new TreeMap<>()).put(pending.ticket(), pending);
    }

    /** Takes it out, if it is in. Its pause must not have been changed since it came. */
    void remove(QueuedAcquire pending) {
        if (pausing.remove(pending) || removeReady(pending)) {
            size--;
            kept -= pending.command().isKeptAlive() ? 1 : 0;
        }
    }

    private boolean removeReady(QueuedAcquire pending) {
        Group group = Group.of(pending);
        TreeMap<Long, QueuedAcquire> members = ready.get(group);
        if (members == null || members.remove(pending.ticket()) == null) {
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

    /** How many are ready that name the same as this one. */
    int sizeBeside(QueuedAcquire pending) {
        TreeMap<Long, QueuedAcquire> members = ready.get(Group.of(pending));
        return members == null ? 0 : members.size();
    }

    /** Whether there is one that this JVM is to keep alive. */
    boolean hasKeptAlive() {
        return kept > 0;
    }

    /** How long until the first pause is over; {@link Long#MAX_VALUE} when none is. */
    long nanosToReady() {
        return pausing.isEmpty()
                ? Long.MAX_VALUE
                : clock.remainingNanos(pausing.first().notBefore());
    }

    /**
     * Offers those that are ready to a selection, in their order, until it is full.
     *
     * @param withKeptAlive whether those that this JVM is to keep alive are offered
     */
    void offerTo(BatchSelector selection, boolean withKeptAlive) {
        while (nanosToReady() <= 0) {
            makeReady(pausing.pollFirst());
        }
        PriorityQueue<Cursor> cursors = new PriorityQueue<>(Comparator.comparing(Cursor::ticket));
        ready.forEach((group, members) -> {
            if (withKeptAlive || !group.kept()) {
                cursors.add(new Cursor(members));
            }
        });
        while (!cursors.isEmpty() && !selection.isFull()) {
            Cursor first = cursors.remove();
            if (selection.consider(first.next) && first.advance()) {
                cursors.add(first);
            }
        }
    }

    /** Empties it, and returns who was in. */
    List<QueuedAcquire> clear() {
        List<QueuedAcquire> all = new ArrayList<>(pausing);
        ready.values().forEach(members -> all.addAll(members.values()));
        pausing.clear();
        ready.clear();
        size = 0;
        kept = 0;
        return all;
    }
}
