package io.dbsemaphore.engine.hold;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.engine.support.Deadline;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The grants that are kept alive, in the order in which something is to be done about them, and the end of those that are
 * lost: each is told once, whoever finds it. What it does for one grant takes logarithmic time. Safe for threads.
 */
final class RenewalSchedule {

    private final GrantRegistry held;
    private final LossNotifier losses;
    private final long origin = System.nanoTime();
    private final Map<Long, Entry> byRequest = new HashMap<>();
    private final TreeMap<Slot, ScheduledRenewal> agenda = new TreeMap<>();

    /** A grant and its place in the agenda, if it is in there. */
    private static final class Entry {

        private final ScheduledRenewal grant;
        private @Nullable Slot slot;

        Entry(ScheduledRenewal grant) {
            this.grant = grant;
        }
    }

    /** A place in the agenda, by a time that can be compared. */
    private record Slot(long sinceOrigin, long requestId) implements Comparable<Slot> {

        @Override
        public int compareTo(Slot other) {
            int byTime = Long.compare(sinceOrigin, other.sinceOrigin);
            return byTime != 0 ? byTime : Long.compare(requestId, other.requestId);
        }
    }

    RenewalSchedule(GrantRegistry held, LossNotifier losses) {
        this.held = held;
        this.losses = losses;
    }

    /** Adds a grant; true when nothing else is to be done before. */
    synchronized boolean add(ScheduledRenewal grant) {
        remove(grant.requestId());
        Entry entry = new Entry(grant);
        byRequest.put(grant.requestId(), entry);
        return schedule(entry);
    }

    /** Finds its place anew, since its time to live has changed; true when nothing else is to be done before. */
    synchronized boolean reschedule(long requestId) {
        Entry entry = byRequest.get(requestId);
        return entry != null && schedule(entry);
    }

    /** As {@link #reschedule(long)}, unless the grant is no longer kept. */
    synchronized void reschedule(ScheduledRenewal grant, boolean postponed) {
        Entry entry = byRequest.get(grant.requestId());
        if (entry != null && entry.grant == grant) {
            if (postponed) {
                grant.postpone();
            }
            schedule(entry);
        }
    }

    synchronized void remove(long requestId) {
        Entry removed = byRequest.remove(requestId);
        if (removed != null) {
            unschedule(removed);
        }
    }

    synchronized boolean isEmpty() {
        return byRequest.isEmpty();
    }

    synchronized int size() {
        return byRequest.size();
    }

    /** Those that are so. Looks through all: only for what happens now and then. */
    synchronized List<ScheduledRenewal> all(Predicate<ScheduledRenewal> which) {
        return byRequest.values().stream()
                .map(entry -> entry.grant)
                .filter(which)
                .toList();
    }

    /** Takes from the agenda what is due. It is still kept; whoever takes it reschedules it or ends it. */
    synchronized List<ScheduledRenewal> takeDue() {
        List<ScheduledRenewal> due = new ArrayList<>();
        while (!agenda.isEmpty() && nanosToNext() <= 0) {
            ScheduledRenewal first = agenda.firstEntry().getValue();
            Entry entry = byRequest.get(first.requestId());
            if (entry != null) {
                unschedule(entry);
            }
            due.add(first);
        }
        return due;
    }

    /** Until something is due. */
    synchronized long nanosToNext() {
        return agenda.isEmpty() ? Long.MAX_VALUE : agenda.firstKey().sinceOrigin() - (System.nanoTime() - origin);
    }

    /** Ends a grant that was found to be lost, and has it told, unless it was given back, or somebody else found it. */
    void lose(ScheduledRenewal grant) {
        if (removeIfSame(grant) && held.lose(grant.state())) {
            losses.tellSoon(grant.handle());
        }
    }

    /** Ends a grant that was found to be lost, and tells it where this JVM held it, be it not kept alive. */
    void lose(HeldGrant state, PermitGrant handle) {
        boolean wasKept = removeIfOf(state);
        boolean ofThisJvm = wasKept || held.holds(state);
        if (held.lose(state) && ofThisJvm) {
            losses.tell(handle);
        }
    }

    private synchronized boolean removeIfSame(ScheduledRenewal grant) {
        Entry entry = byRequest.get(grant.requestId());
        if (entry == null || entry.grant != grant) {
            return false;
        }
        remove(grant.requestId());
        return true;
    }

    private synchronized boolean removeIfOf(HeldGrant state) {
        Entry entry = byRequest.get(state.grant().requestId());
        return entry != null && entry.grant.state() == state && removeIfSame(entry.grant);
    }

    private boolean schedule(Entry entry) {
        unschedule(entry);
        Deadline next = entry.grant.next();
        if (next.never()) {
            return false;
        }
        Slot slot = new Slot(next.nanos() - origin, entry.grant.requestId());
        entry.slot = slot;
        agenda.put(slot, entry.grant);
        return agenda.firstKey().equals(slot);
    }

    private void unschedule(Entry entry) {
        if (entry.slot != null) {
            agenda.remove(entry.slot);
            entry.slot = null;
        }
    }
}
