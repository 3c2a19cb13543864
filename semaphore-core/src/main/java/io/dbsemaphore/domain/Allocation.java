package io.dbsemaphore.domain;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.PermitsExceedCapacityException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Collection;
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
        acquires.forEach(decision::decide);
        return decision;
    }

    public boolean hasRefusals() {
        return !refusals.isEmpty();
    }

    /** The refused acquires that wait, by semaphore. */
    public Map<String, List<Waiter>> waiters() {
        Map<String, List<Waiter>> waiters = new HashMap<>();
        refusals.forEach((acquire, shortages) -> {
            if (acquire.isWillingToWait()) {
                acquire.command()
                        .permits()
                        .forEach((name, count) -> waiters.computeIfAbsent(name, added -> new ArrayList<>())
                                .add(waiter(acquire, count)));
            }
        });
        return waiters;
    }

    private Waiter waiter(AcquireState acquire, int count) {
        AcquireCommand command = acquire.command();
        Place refused = Place.at(Math.min(acquire.arrivedAt(), Place.micros(now())));
        Place place = acquire.place().isBefore(refused) ? acquire.place() : refused;
        return new Waiter(place, count, command.exclusive(), command.isOfSeveral());
    }

    /** The lowest token that will be held of each semaphore of which permits are granted, by its id. */
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
                                shortage.withheld()))
                        .toList())));
        return outcomes;
    }

    /** The database's clock when the held permits were summed, which is the time of all writes of this transaction. */
    public LocalDateTime now() {
        return availabilities.values().iterator().next().now();
    }

    private void decide(AcquireState acquire) {
        AcquireCommand command = acquire.command();
        List<PermitShortage> shortages = new ArrayList<>();
        for (Map.Entry<String, Integer> wanted : command.permits().entrySet()) {
            SemaphoreAvailability availability = availability(wanted.getKey());
            int count = wanted.getValue();
            if (availability.isExceededBy(count)) {
                rejections.put(
                        acquire,
                        new GrantOutcome.Rejected(new PermitsExceedCapacityException(
                                wanted.getKey(), count, availability.semaphore().capacity())));
                return;
            }
            long withheld = availability.withheldFrom(acquire, wanted.getKey());
            if (!availability.fits(count, command.exclusive(), withheld)) {
                shortages.add(availability.shortage(count, command.exclusive(), withheld));
            }
        }
        if (shortages.isEmpty()) {
            approve(acquire);
        } else {
            refusals.put(acquire, shortages);
            reserveFor(acquire);
        }
    }

    /**
     * Reserves the permits that a refused acquire waits for: without this, many small acquires would starve a large one. For an acquire
     * of several semaphores only while the {@linkplain ReservationWindow window} is open.
     */
    private void reserveFor(AcquireState acquire) {
        AcquireCommand command = acquire.command();
        if (acquire.isWillingToWait() && (!command.isOfSeveral() || ReservationWindow.isOpen(now()))) {
            command.permits().forEach((name, count) -> availability(name).reserve(count, command.exclusive()));
        }
    }

    private void approve(AcquireState acquire) {
        AcquireCommand command = acquire.command();
        List<Share> shares = new ArrayList<>();
        command.permits().forEach((name, count) -> {
            SemaphoreAvailability availability = availability(name);
            int taken = availability.take(count, command.exclusive());
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
