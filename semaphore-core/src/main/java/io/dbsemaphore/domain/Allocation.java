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
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Who gets what: each order in turn gets all that it asks for, or nothing. Touches no database; the rooms it is given
 * are used up by it.
 */
public final class Allocation {

    /** What an approved order gets of one semaphore. */
    public record Share(String name, SemaphoreAvailability availability, int count, long token) {}

    /** An order that gets all it asked for, in the order of the names. */
    public record Approval(AcquireState acquire, List<Share> shares) {}

    /** A semaphore that had too little room for an order, as it stood when the order's turn came. */
    public record Shortage(SemaphoreAvailability availability, PermitShortage numbers) {

        Shortfall shortfall() {
            long overCapacity = Math.max(0, numbers.held() - numbers.capacity());
            return new Shortfall(
                    availability.semaphoreId(),
                    numbers.name(),
                    numbers.requested() + overCapacity,
                    availability.before().held());
        }

        public PermitShortage describe(Optional<Instant> earliestExpiry) {
            return new PermitShortage(
                    numbers.name(),
                    numbers.capacity(),
                    numbers.held(),
                    numbers.requested(),
                    earliestExpiry,
                    numbers.withheld());
        }
    }

    private static final int REFUSALS_UNTIL_ALL_IS_RESERVED = 8;

    private final Map<String, SemaphoreAvailability> availabilities;
    private final List<Approval> approvals = new ArrayList<>();
    private final Map<AcquireState, List<Shortage>> refusals = new LinkedHashMap<>();
    private final Map<AcquireState, GrantOutcome> rejections = new LinkedHashMap<>();

    private Allocation(Map<String, SemaphoreAvailability> availabilities) {
        this.availabilities = availabilities;
    }

    public static Allocation of(List<AcquireState> acquires, Map<String, SemaphoreAvailability> availabilities) {
        Allocation decision = new Allocation(availabilities);
        acquires.forEach(decision::decide);
        return decision;
    }

    public List<Approval> approvals() {
        return approvals;
    }

    public Map<AcquireState, List<Shortage>> refusals() {
        return refusals;
    }

    public boolean hasRefusals() {
        return !refusals.isEmpty();
    }

    public Map<AcquireState, GrantOutcome> rejections() {
        return rejections;
    }

    /** The semaphores of which something is granted, each with the lowest token that is going to be held. */
    public SortedMap<Long, Long> watermarks() {
        TreeMap<Long, Long> watermarks = new TreeMap<>();
        approvals.forEach(approval -> approval.shares()
                .forEach(share -> watermarks.put(
                        share.availability().semaphoreId(), share.availability().liveFrom())));
        return watermarks;
    }

    /** What is free of each semaphore when all is decided, by name. */
    public Map<String, RemainingAvailability> remaining() {
        Set<Long> raised = watermarks().keySet();
        Map<String, RemainingAvailability> remaining = new HashMap<>();
        availabilities.forEach((name, availability) -> remaining.put(
                name,
                new RemainingAvailability(
                        availability.capacity(),
                        availability.held(),
                        availability.free(),
                        availability.fence(),
                        availability.fence() + (raised.contains(availability.semaphoreId()) ? approvals.size() : 0))));
        return remaining;
    }

    /** The semaphores that have too few free permits for refused orders. */
    public Collection<Shortfall> shortfalls() {
        Map<Long, Shortfall> shortfalls = new TreeMap<>();
        refusals.values()
                .forEach(shortages -> shortages.forEach(shortage -> shortfalls.merge(
                        shortage.availability().semaphoreId(),
                        shortage.shortfall(),
                        (shortfall, next) -> shortfall.plus(shortage.numbers().requested()))));
        return shortfalls.values();
    }

    /** The database's clock when the rooms were measured: what this transaction writes is dated by it. */
    public LocalDateTime now() {
        return availabilities.values().iterator().next().before().now();
    }

    private void decide(AcquireState acquire) {
        AcquireCommand command = acquire.command();
        List<Shortage> shortages = new ArrayList<>();
        for (Map.Entry<String, Integer> wanted : command.permits().entrySet()) {
            SemaphoreAvailability availability = availability(wanted.getKey());
            int count = wanted.getValue();
            if (availability.isExceededBy(count)) {
                rejections.put(
                        acquire,
                        new GrantOutcome.Rejected(
                                new PermitsExceedCapacityException(wanted.getKey(), count, availability.capacity())));
                return;
            }
            long demandAhead = acquire.demandAhead(wanted.getKey());
            if (!availability.fits(count, command.exclusive(), demandAhead)) {
                shortages.add(
                        new Shortage(availability, availability.shortage(count, command.exclusive(), demandAhead)));
            }
        }
        if (shortages.isEmpty()) {
            approve(acquire);
        } else {
            refusals.put(acquire, shortages);
            reserveFor(acquire, shortages);
        }
    }

    /**
     * Who waits is not overtaken at a semaphore that is too full for him: many small requests would never leave room for
     * a large one. What he was refused often enough is kept free for him at all of his semaphores, since they may never be
     * free at the same time by chance.
     */
    private void reserveFor(AcquireState acquire, List<Shortage> shortages) {
        if (!acquire.isWillingToWait()) {
            return;
        }
        if (acquire.refusals() >= REFUSALS_UNTIL_ALL_IS_RESERVED) {
            acquire.command()
                    .permits()
                    .keySet()
                    .forEach(name -> availability(name).reserve());
        } else {
            shortages.forEach(shortage -> shortage.availability().reserve());
        }
    }

    private void approve(AcquireState acquire) {
        AcquireCommand command = acquire.command();
        int ordinal = approvals.size() + 1;
        List<Share> shares = new ArrayList<>();
        command.permits().forEach((name, count) -> {
            SemaphoreAvailability availability = availability(name);
            int taken = availability.take(count, command.exclusive());
            shares.add(new Share(name, availability, taken, availability.token(ordinal)));
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
