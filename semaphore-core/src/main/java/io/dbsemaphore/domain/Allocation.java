package io.dbsemaphore.domain;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.PermitsExceedCapacityException;
import io.dbsemaphore.line.Admission;
import io.dbsemaphore.line.Ask;
import io.dbsemaphore.line.LineAhead;
import io.dbsemaphore.line.Place;
import io.dbsemaphore.line.Places;
import io.dbsemaphore.line.ReservationWindow;
import io.dbsemaphore.line.Waiter;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The decision of a batch: each acquire in turn is granted all that it asks for, or nothing. A computation without a
 * database, which updates the given availabilities.
 *
 * @param availabilities the availability of each locked semaphore, by name
 * @param refusals the refused acquires, with the semaphores of which too few permits were available when they were decided
 */
public record Allocation(
        Map<String, SemaphoreAvailability> availabilities,
        List<Approval> approvals,
        Map<AcquireState, List<PermitShortage>> refusals,
        Map<AcquireState, GrantOutcome> rejections) {

    /** The permits of one semaphore that an approved acquire is granted. */
    public record Share(String name, SemaphoreAvailability availability, int count, long token) {}

    /** An acquire that is granted, with its shares sorted by name. */
    public record Approval(AcquireState acquire, List<Share> shares) {}

    public static Allocation of(List<AcquireState> acquires, Map<String, SemaphoreAvailability> availabilities) {
        Allocation decision =
                new Allocation(availabilities, new ArrayList<>(), new LinkedHashMap<>(), new LinkedHashMap<>());
        decision.inOrder(acquires).forEach(decision::decide);
        return decision;
    }

    /**
     * The acquires in the order in which they are decided. Where permits are shared, that is not the order of the batch: callers of one
     * semaphore stand in the order of their turns, those of several before them or, while the window is closed, behind them, and those that
     * do not wait at the end.
     */
    private List<AcquireState> inOrder(List<AcquireState> acquires) {
        if (availabilities.values().stream().allMatch(each -> each.turns() == null)) {
            return acquires;
        }
        boolean isWindowOpen = ReservationWindow.isOpen(now());
        List<AcquireState> sorted = new ArrayList<>(acquires);
        sorted.sort(Comparator.comparing((AcquireState acquire) -> !acquire.isWillingToWait() && !acquire.hasWaited())
                .thenComparing(acquire -> hasTurn(acquire) == isWindowOpen)
                .thenComparing((one, other) ->
                        hasTurn(one) && hasTurn(other) ? placeOf(one).compareTo(placeOf(other)) : 0));
        return sorted;
    }

    private boolean hasTurn(AcquireState acquire) {
        return !acquire.isOfSeveral()
                && availability(acquire.charges().keySet().iterator().next()).turns() != null;
    }

    private Place placeOf(AcquireState acquire) {
        return availability(acquire.charges().keySet().iterator().next()).placeOf(acquire);
    }

    public boolean hasRefusals() {
        return !refusals.isEmpty();
    }

    /**
     * The refused acquires that wait, by semaphore.
     *
     * @param answeredAt this JVM's monotonic clock when the held permits were read
     */
    public Map<String, List<Waiter>> waiters(long answeredAt) {
        if (refusals.isEmpty()) {
            return Map.of();
        }
        Places places = new Places(Place.micros(now()), answeredAt);
        Map<String, List<Waiter>> waiters = new HashMap<>();
        refusals.keySet().stream()
                .filter(this::waits)
                .forEach(acquire -> acquire.charges()
                        .keySet()
                        .forEach(name -> waiters.computeIfAbsent(name, added -> new ArrayList<>())
                                .add(acquire.toWaiter(
                                        name, acquire.position().refused(places).place()))));
        return waiters;
    }

    /** By the id of each semaphore of which permits are granted, the lowest token that will be held. */
    public SortedMap<Long, Long> watermarks() {
        TreeMap<Long, Long> watermarks = new TreeMap<>();
        approvals.forEach(approval -> approval.shares()
                .forEach(share -> watermarks.put(
                        share.availability().semaphoreId(), share.availability().liveFrom())));
        return watermarks;
    }

    /** The number of tokens to reserve, by the id of the semaphore: 1 for each approval, or more where permits are reused. */
    public SortedMap<Long, Long> tokens() {
        TreeMap<Long, Long> tokens = new TreeMap<>();
        approvals.forEach(approval -> approval.shares()
                .forEach(share -> tokens.put(
                        share.availability().semaphoreId(), share.availability().tokens())));
        return tokens;
    }

    /** The availability of each semaphore after the decision, by name. */
    public Map<String, RemainingAvailability> remaining() {
        Map<String, RemainingAvailability> remaining = new HashMap<>();
        availabilities.forEach((name, availability) -> remaining.put(name, availability.remaining(true)));
        return remaining;
    }

    /** The semaphores with too few permits available for the refused acquires. */
    public Collection<Shortfall> shortfalls() {
        Map<Long, Shortfall> shortfalls = new TreeMap<>();
        refusals.values().stream().flatMap(List::stream).forEach(shortage -> {
            SemaphoreAvailability availability = availability(shortage.name());
            long overCapacity = Math.max(0, shortage.held() - shortage.capacity());
            Shortfall first =
                    new Shortfall(availability.semaphoreId(), shortage.name(), shortage.requested() + overCapacity);
            shortfalls.merge(first.semaphoreId(), first, (sum, next) -> sum.plus(shortage.requested()));
        });
        return shortfalls.values();
    }

    /**
     * The outcomes of the refused acquires.
     *
     * @param expiries when the first of the held permits of a semaphore expires, by its id
     */
    public Map<AcquireState, GrantOutcome> refused(Map<Long, Instant> expiries) {
        Map<AcquireState, GrantOutcome> outcomes = new HashMap<>();
        refusals.forEach((acquire, shortages) -> outcomes.put(
                acquire,
                new GrantOutcome.Refused(shortages.stream()
                        .map(shortage -> new PermitShortage(
                                shortage.name(),
                                shortage.capacity(),
                                shortage.held(),
                                shortage.requested(),
                                Optional.ofNullable(expiries.get(
                                        availability(shortage.name()).semaphoreId())),
                                shortage.withheld(),
                                shortage.ahead(),
                                shortage.maxWaiting(),
                                shortage.displaced(),
                                shortage.expectedWait(),
                                shortage.fullShare()))
                        .toList())));
        return outcomes;
    }

    /** The database's clock when the held permits were summed, which is the time of all writes of this transaction. */
    public LocalDateTime now() {
        return availabilities.values().iterator().next().now();
    }

    /** Whether a refused acquire waits: its caller has time, and the lines of its semaphores have room. */
    public boolean waits(AcquireState acquire) {
        return acquire.isWillingToWait()
                && refusals.getOrDefault(acquire, List.of()).stream().noneMatch(PermitShortage::isQueueFull);
    }

    private void decide(AcquireState acquire) {
        boolean isNew = acquire.isWillingToWait() && !acquire.hasWaited();
        boolean isShort = false;
        List<PermitShortage> shortages = new ArrayList<>();
        for (Map.Entry<String, Ask> charge : acquire.charges().entrySet()) {
            SemaphoreAvailability availability = availability(charge.getKey());
            Ask ask = charge.getValue();
            LineAhead line = availability.line(acquire);
            Admission admission = availability.admission(ask, line);
            if (admission.isNever()) {
                int capacity = availability.semaphore().capacity();
                rejections.put(
                        acquire,
                        new GrantOutcome.Rejected(
                                new PermitsExceedCapacityException(charge.getKey(), ask.permits(capacity), capacity)));
                return;
            }
            boolean isNow = admission.isNow() && availability.isVerified(acquire);
            isShort |= !isNow;
            if (isNew && availability.isLineFull()) {
                shortages.add(availability.shortageOfFull(ask, line));
            } else if (isNew && availability.isFullFor(acquire.share())) {
                shortages.add(availability.shortageOfFull(ask, line, acquire.share()));
            } else if (!isNow) {
                shortages.add(availability.shortage(ask, line));
            }
        }
        if (isShort) {
            refusals.put(acquire, shortages);
            reserveFor(acquire);
        } else {
            approve(acquire);
        }
    }

    /**
     * Reserves the permits that a refused acquire waits for: without this, many small acquires would starve a large one. For an acquire
     * of several semaphores only while the {@linkplain ReservationWindow window} is open.
     */
    private void reserveFor(AcquireState acquire) {
        if (waits(acquire)) {
            boolean reserves = !acquire.isOfSeveral() || ReservationWindow.isOpen(now());
            acquire.charges().forEach((name, ask) -> {
                availability(name).join(acquire.share());
                if (reserves) {
                    availability(name).reserve(ask);
                }
            });
        }
    }

    private void approve(AcquireState acquire) {
        List<Share> shares = new ArrayList<>();
        acquire.charges().forEach((name, ask) -> {
            SemaphoreAvailability availability = availability(name);
            int taken = availability.take(acquire);
            shares.add(new Share(name, availability, taken, availability.fencingToken(acquire.tokens())));
        });
        approvals.add(new Approval(acquire, shares));
    }

    private SemaphoreAvailability availability(String name) {
        SemaphoreAvailability availability = availabilities.get(name);
        if (availability == null) {
            throw new IllegalStateException("Not locked: " + name);
        }
        return availability;
    }
}
