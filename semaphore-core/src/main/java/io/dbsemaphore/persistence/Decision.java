package io.dbsemaphore.persistence;

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
final class Decision {

    /** What an approved order gets of one semaphore. */
    record Share(String name, Room room, int count, long token) {}

    /** An order that gets all it asked for, in the order of the names. */
    record Approval(GrantOrder order, List<Share> shares) {}

    /** A semaphore that had too little room for an order, as it stood when the order's turn came. */
    record Shortage(Room room, PermitShortage numbers) {

        Lack lack() {
            long overCapacity = Math.max(0, numbers.held() - numbers.capacity());
            return new Lack(
                    room.semaphoreId(),
                    numbers.name(),
                    numbers.requested() + overCapacity,
                    room.before().held());
        }

        PermitShortage describe(Optional<Instant> earliestExpiry) {
            return new PermitShortage(
                    numbers.name(),
                    numbers.capacity(),
                    numbers.held(),
                    numbers.requested(),
                    earliestExpiry,
                    numbers.withheld());
        }
    }

    private static final int REFUSALS_UNTIL_ALL_IS_KEPT = 8;

    private final Map<String, Room> rooms;
    private final List<Approval> approvals = new ArrayList<>();
    private final Map<GrantOrder, List<Shortage>> refusals = new LinkedHashMap<>();
    private final Map<GrantOrder, GrantOutcome> rejections = new LinkedHashMap<>();

    private Decision(Map<String, Room> rooms) {
        this.rooms = rooms;
    }

    static Decision of(List<GrantOrder> orders, Map<String, Room> rooms) {
        Decision decision = new Decision(rooms);
        orders.forEach(decision::decide);
        return decision;
    }

    List<Approval> approvals() {
        return approvals;
    }

    Map<GrantOrder, List<Shortage>> refusals() {
        return refusals;
    }

    boolean hasRefusals() {
        return !refusals.isEmpty();
    }

    Map<GrantOrder, GrantOutcome> rejections() {
        return rejections;
    }

    /** The semaphores of which something is granted, each with the lowest token that is going to be held. */
    SortedMap<Long, Long> watermarks() {
        TreeMap<Long, Long> watermarks = new TreeMap<>();
        approvals.forEach(approval -> approval.shares()
                .forEach(share ->
                        watermarks.put(share.room().semaphoreId(), share.room().liveFrom())));
        return watermarks;
    }

    /** What is free of each semaphore when all is decided, by name. */
    Map<String, Availability> availability() {
        Set<Long> raised = watermarks().keySet();
        Map<String, Availability> availability = new HashMap<>();
        rooms.forEach((name, room) -> availability.put(
                name,
                new Availability(
                        room.free(),
                        room.fence(),
                        room.fence() + (raised.contains(room.semaphoreId()) ? approvals.size() : 0))));
        return availability;
    }

    /** The semaphores that have too few free permits for refused orders. */
    Collection<Lack> lacks() {
        Map<Long, Lack> lacks = new TreeMap<>();
        refusals.values()
                .forEach(shortages -> shortages.forEach(shortage -> lacks.merge(
                        shortage.room().semaphoreId(),
                        shortage.lack(),
                        (lack, next) -> lack.plus(shortage.numbers().requested()))));
        return lacks.values();
    }

    /** The database's clock when the rooms were measured: what this transaction writes is dated by it. */
    LocalDateTime now() {
        return rooms.values().iterator().next().before().now();
    }

    private void decide(GrantOrder order) {
        List<Shortage> shortages = new ArrayList<>();
        for (Map.Entry<String, Integer> wanted : order.permits().entrySet()) {
            Room room = room(wanted.getKey());
            int count = wanted.getValue();
            if (room.isExceededBy(count)) {
                rejections.put(
                        order,
                        new GrantOutcome.Rejected(
                                new PermitsExceedCapacityException(wanted.getKey(), count, room.capacity())));
                return;
            }
            long askedBefore = order.askedBefore(wanted.getKey());
            if (!room.fits(count, order.isExclusive(), askedBefore)) {
                shortages.add(new Shortage(room, room.shortage(count, order.isExclusive(), askedBefore)));
            }
        }
        if (shortages.isEmpty()) {
            approve(order);
        } else {
            refusals.put(order, shortages);
            keepTurn(order, shortages);
        }
    }

    /**
     * Who waits is not overtaken at a semaphore that is too full for him: many small requests would never leave room for
     * a large one. What he was refused often enough is kept free for him at all of his semaphores, since they may never be
     * free at the same time by chance.
     */
    private void keepTurn(GrantOrder order, List<Shortage> shortages) {
        if (!order.isPatient()) {
            return;
        }
        if (order.refusals() >= REFUSALS_UNTIL_ALL_IS_KEPT) {
            order.permits().keySet().forEach(name -> room(name).keep());
        } else {
            shortages.forEach(shortage -> shortage.room().keep());
        }
    }

    private void approve(GrantOrder order) {
        int ordinal = approvals.size() + 1;
        List<Share> shares = new ArrayList<>();
        order.permits().forEach((name, count) -> {
            Room room = room(name);
            int taken = room.take(count, order.isExclusive());
            shares.add(new Share(name, room, taken, room.token(ordinal)));
        });
        approvals.add(new Approval(order, shares));
    }

    private Room room(String name) {
        Room room = rooms.get(name);
        if (room == null) {
            throw new IllegalStateException("Not locked: " + name);
        }
        return room;
    }
}
