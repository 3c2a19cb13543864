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
 * The grants that are kept alive, ordered by the time of the next action. Also ends lost grants, and reports each loss once.
 * Operations on one grant take logarithmic time. Thread-safe.
 */
final class RenewalSchedule {

    private final GrantRegistry held;
    private final LossNotifier losses;
    private final long origin = System.nanoTime();
    private final Map<Long, Entry> byRequest = new HashMap<>();
    private final TreeMap<Slot, ScheduledRenewal> agenda = new TreeMap<>();

    /** A grant and its position in the agenda, if present. */
    private static final class Entry {

        private final ScheduledRenewal grant;
        private @Nullable Slot slot;

        Entry(ScheduledRenewal grant) {
            this.grant = grant;
        }
    }

    /** A position in the agenda. The time is relative to the origin, so that it can be compared. */
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

    /** Adds a grant. Returns whether it is the next one that is due. */
    synchronized boolean add(ScheduledRenewal grant) {
        remove(grant.requestId());
        Entry entry = new Entry(grant);
        byRequest.put(grant.requestId(), entry);
        return schedule(entry);
    }

    /** Schedules a grant again, since its time to live has changed. Returns whether it is the next one that is due. */
    synchronized boolean reschedule(long requestId) {
        Entry entry = byRequest.get(requestId);
        return entry != null && schedule(entry);
    }

    /** As {@link #reschedule(long)}, unless the grant is no longer kept alive. */
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

    /** The grants that match. Iterates over all grants: only for rare events. */
    synchronized List<ScheduledRenewal> all(Predicate<ScheduledRenewal> filter) {
        return byRequest.values().stream()
                .map(entry -> entry.grant)
                .filter(filter)
                .toList();
    }

    /** Removes the due grants from the agenda. They are still kept alive; the caller reschedules or ends each of them. */
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

    /** The time until a grant is due; {@link Long#MAX_VALUE} when there is none. */
    synchronized long nanosToNext() {
        return agenda.isEmpty() ? Long.MAX_VALUE : agenda.firstKey().sinceOrigin() - (System.nanoTime() - origin);
    }

    /** Ends a lost grant, and reports the loss, unless the grant was released or the loss was reported before. */
    void lose(ScheduledRenewal grant) {
        PermitGrant user = grant.handle();
        if (removeIfSame(grant) && held.lose(grant.state()) && user != null) {
            losses.reportAsync(user);
        }
    }

    /** Ends a lost grant, and reports the loss if this JVM held the grant, kept alive or not. */
    void lose(HeldGrant state, PermitGrant handle) {
        ScheduledRenewal kept = removeIfOf(state);
        PermitGrant user = kept == null ? handle : kept.handle();
        boolean ofThisJvm = kept != null || held.holds(state);
        if (held.lose(state) && ofThisJvm && user != null) {
            losses.report(user);
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

    private synchronized @Nullable ScheduledRenewal removeIfOf(HeldGrant state) {
        Entry entry = byRequest.get(state.grant().requestId());
        return entry != null && entry.grant.state() == state && removeIfSame(entry.grant) ? entry.grant : null;
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
