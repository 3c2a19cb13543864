package io.dbsemaphore.engine.hold;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.persistence.HoldTransactions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The grants that are kept alive, and those whose expiry is watched, ordered by the time of the next action. Also ends lost grants,
 * and reports each loss once.
 * Operations on one grant take logarithmic time. Thread-safe.
 */
final class RenewalSchedule {

    private final GrantRegistry held;
    private final LossNotifier losses;
    private final Map<Long, ScheduledRenewal> byRequest = new HashMap<>();
    private int keptAlive;
    private final TreeSet<ScheduledRenewal> agenda =
            new TreeSet<>(Comparator.comparing(ScheduledRenewal::due).thenComparing(ScheduledRenewal::requestId));

    RenewalSchedule(GrantRegistry held, LossNotifier losses) {
        this.held = held;
        this.losses = losses;
    }

    /** Adds a grant. Returns whether it is the next one that is due. */
    synchronized boolean add(ScheduledRenewal grant) {
        ScheduledRenewal unused = remove(grant.requestId());
        byRequest.put(grant.requestId(), grant);
        keptAlive += grant.isKeptAlive() ? 1 : 0;
        return schedule(grant);
    }

    /** Adds a grant, unless an earlier acquire of it keeps it alive. Returns whether it is the next one that is due. */
    synchronized boolean addOrReschedule(ScheduledRenewal grant) {
        ScheduledRenewal known = byRequest.get(grant.requestId());
        return known != null && known.state() == grant.state() ? schedule(known) : add(grant);
    }

    /** Schedules a grant again, since its time to live has changed. Returns whether it is the next one that is due. */
    synchronized boolean reschedule(long requestId) {
        ScheduledRenewal grant = byRequest.get(requestId);
        return grant != null && schedule(grant);
    }

    /** As {@link #reschedule(long)}, unless the grant is no longer kept alive. */
    synchronized void reschedule(ScheduledRenewal grant, boolean postponed) {
        if (byRequest.get(grant.requestId()) == grant) {
            if (postponed) {
                grant.postpone();
            }
            schedule(grant);
        }
    }

    /** Removes a grant. Returns what was scheduled; null if nothing was. */
    synchronized @Nullable ScheduledRenewal remove(long requestId) {
        ScheduledRenewal removed = byRequest.remove(requestId);
        if (removed != null) {
            agenda.remove(removed);
            keptAlive -= removed.isKeptAlive() ? 1 : 0;
        }
        return removed;
    }

    /** Whether a grant is kept alive, so that heartbeats are needed. */
    synchronized boolean needsHeartbeats() {
        return keptAlive > 0;
    }

    synchronized boolean isEmpty() {
        return byRequest.isEmpty();
    }

    synchronized int size() {
        return byRequest.size();
    }

    /** The grants that are kept alive and match. Iterates over all grants: only for rare events. */
    synchronized List<ScheduledRenewal> all(Predicate<ScheduledRenewal> filter) {
        return byRequest.values().stream()
                .filter(ScheduledRenewal::isKeptAlive)
                .filter(filter)
                .toList();
    }

    /** Removes the due grants from the agenda. They are still kept alive; the caller reschedules or ends each of them. */
    synchronized List<ScheduledRenewal> takeDue() {
        List<ScheduledRenewal> due = new ArrayList<>();
        while (nanosToNext() <= 0) {
            due.add(agenda.pollFirst());
        }
        return due;
    }

    /** The time until a grant is due; {@link Long#MAX_VALUE} when there is none. */
    synchronized long nanosToNext() {
        return agenda.isEmpty() ? Long.MAX_VALUE : agenda.first().due().remainingNanos();
    }

    /**
     * Settles grants of which the database was asked: removes them from the map, except those that another transaction has
     * locked, and ends the lost ones.
     *
     * @param confirmed receives those that are held
     */
    void settle(
            Map<Long, ScheduledRenewal> asked, HoldTransactions.Outcome outcome, Consumer<ScheduledRenewal> confirmed) {
        outcome.held().stream().map(asked::remove).flatMap(Stream::ofNullable).forEach(confirmed);
        outcome.lost().stream().map(asked::remove).flatMap(Stream::ofNullable).forEach(this::lose);
    }

    /** Ends a lost grant, and reports the loss, unless the grant was released or the loss was reported before. */
    void lose(ScheduledRenewal grant) {
        PermitGrant user = grant.handle();
        if (removeIfSame(grant)) {
            boolean untold = grant.state().claimEnd();
            held.lose(grant.state());
            if (untold && user != null) {
                losses.reportAsync(new LossNotifier.Loss(user, grant, false));
            }
        }
    }

    /**
     * Reports a grant that has expired. Its state is not ended: it counts as expired, and is held again if an acquire with its
     * external id is repeated before others reclaim it.
     */
    void expire(ScheduledRenewal grant) {
        PermitGrant user = grant.handle();
        if (removeIfSame(grant) && grant.state().claimEnd() && user != null) {
            losses.reportAsync(new LossNotifier.Loss(user, grant, true));
        }
    }

    /** Stops watching a grant that another process has released in time: its end is nothing to report. */
    void endQuietly(ScheduledRenewal grant) {
        if (removeIfSame(grant)) {
            boolean unused = grant.state().claimEnd();
            held.lose(grant.state());
        }
    }

    /** Ends a lost grant, and reports the loss if this JVM held the grant, kept alive or not. */
    void lose(HeldGrant state, PermitGrant handle) {
        ScheduledRenewal kept = removeIfOf(state);
        PermitGrant user = kept == null ? handle : kept.handle();
        boolean ofThisJvm = kept != null || held.holds(state);
        boolean untold = state.claimEnd();
        held.lose(state);
        if (untold && ofThisJvm && user != null) {
            losses.report(new LossNotifier.Loss(user, kept, false));
        }
    }

    private synchronized boolean removeIfSame(ScheduledRenewal grant) {
        if (byRequest.get(grant.requestId()) != grant) {
            return false;
        }
        return remove(grant.requestId()) != null;
    }

    private synchronized @Nullable ScheduledRenewal removeIfOf(HeldGrant state) {
        ScheduledRenewal kept = byRequest.get(state.grant().requestId());
        return kept != null && kept.state() == state && removeIfSame(kept) ? kept : null;
    }

    private boolean schedule(ScheduledRenewal grant) {
        agenda.remove(grant); // before its place changes
        grant.plan();
        return !grant.due().never() && agenda.add(grant) && agenda.first() == grant;
    }
}
