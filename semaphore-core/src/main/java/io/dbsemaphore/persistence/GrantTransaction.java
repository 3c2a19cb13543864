package io.dbsemaphore.persistence;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.persistence.ReleaseTransaction.FreeRelease;
import io.dbsemaphore.persistence.StoredGrant.StoredPermit;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The heart: one transaction that grants any number of orders.
 *
 * <ol>
 *   <li>What its callers have done with is released, so that there is room for others.
 *   <li>Orders whose external id is known already are answered with what is there.
 *   <li>The rows of the semaphores are locked: one id per statement, in ascending order, where a lock is waited for; then
 *       the others, all in one statement that skips what is locked, so that what names it is left for later.
 *   <li>In a statement of its own, by the same round trip, the held permits are summed.
 *   <li>Each order is decided, in turn; where there is no room, what has expired is taken back first.
 *   <li>The fences are raised, requests and permits inserted, and all is committed at once, by one round trip.
 * </ol>
 *
 * Whoever grants holds the lock of the row, so no two see the same room; whoever releases needs no lock, since a release
 * only makes more of it.
 */
public final class GrantTransaction {

    private final ShortTransaction transaction;
    private final ReleaseTransaction releases;
    private final SemaphoreDirectory directory;
    private final RepeatedOrders repeatedOrders;
    private final OrphanedRequests orphans;
    private final EarliestExpiries earliestExpiries;
    private final GrantStatements statements;
    private final TimeOrderedIds ids;

    GrantTransaction(
            ShortTransaction transaction,
            ReleaseTransaction releases,
            SemaphoreDirectory directory,
            RepeatedOrders repeatedOrders,
            OrphanedRequests orphans,
            EarliestExpiries earliestExpiries,
            GrantStatements statements,
            TimeOrderedIds ids) {
        this.transaction = transaction;
        this.releases = releases;
        this.directory = directory;
        this.repeatedOrders = repeatedOrders;
        this.orphans = orphans;
        this.earliestExpiries = earliestExpiries;
        this.statements = statements;
        this.ids = ids;
    }

    /**
     * Grants or refuses the orders, each with an outcome of its own, in their order.
     *
     * @param round what to grant, asked for once there is a connection
     * @throws PartialReleaseException when one of the releases is the reason; nothing was done
     * @throws RuntimeException when the transaction failed as a whole: nothing was done, unless it is a
     *     {@link CommitOutcomeUnknownException}
     */
    public GrantResult grant(Supplier<GrantRound> round) {
        return transaction.execute(() -> grant(round.get()));
    }

    private GrantResult grant(GrantRound round) {
        return releases.releaseFreeWithin(round.releases(), release -> grant(round, release));
    }

    private GrantResult grant(GrantRound round, FreeRelease release) {
        GrantBatch batch = new GrantBatch(round.orders());
        repeatedOrders.settle(batch);
        RowLocks locks = lock(batch, round.awaited());
        repeatedOrders.settle(batch); // who waited for the lock may have been overtaken by his own repetition
        Map<String, Room> rooms = measure(locks);
        Set<Long> released = release.released();
        batch.settleAll(order -> postponed(order, rooms.keySet()));
        batch.settleAll(order -> order.claim() ? null : new GrantOutcome.Withdrawn());
        Decision decision = Decision.of(batch.open(), rooms);
        List<TakenBack> takenBack = decision.hasRefusals() ? orphans.releaseOf(decision.lacks()) : List.of();
        if (!takenBack.isEmpty()) {
            decision = Decision.of(batch.open(), measure(locks));
        }
        write(decision).forEach(batch::settle);
        decision.rejections().forEach(batch::settle);
        refuse(decision).forEach(batch::settle);
        return new GrantResult(batch.outcomes(), decision.availability(), takenBack, released);
    }

    /** Locks what the orders name, by the next round trip. */
    private RowLocks lock(GrantBatch batch, Set<String> awaited) {
        Map<String, Long> known = settleUnknown(batch);
        SortedMap<Long, String> waiting = new TreeMap<>();
        SortedMap<Long, String> free = new TreeMap<>();
        batch.openNames().forEach(name -> (awaited.contains(name) ? waiting : free).put(idOf(known, name), name));
        return RowLocks.lock(statements, waiting, free);
    }

    private Map<String, Long> settleUnknown(GrantBatch batch) {
        Map<String, Long> known = directory.findIds(batch.openNames());
        batch.settleAll(order -> {
            List<String> unknown = order.permits().keySet().stream()
                    .filter(name -> !known.containsKey(name))
                    .toList();
            return unknown.isEmpty() ? null : new GrantOutcome.Rejected(new SemaphoreNotFoundException(unknown));
        });
        return known;
    }

    private static long idOf(Map<String, Long> known, String name) {
        Long id = known.get(name);
        if (id == null) {
            throw new IllegalStateException("Not looked up: " + name);
        }
        return id;
    }

    /** The rooms of what is locked, by name. */
    private Map<String, Room> measure(RowLocks locks) {
        Map<Long, HeldSum> sums = statements.sumHeld(locks.ids());
        locks.firstMissing().ifPresent(missing -> {
            directory.forget(missing.getKey());
            throw new StaleSemaphoreException(missing.getValue());
        });
        Map<String, Room> rooms = new HashMap<>();
        for (LockedSemaphore semaphore : locks.locked()) {
            HeldSum sum = sums.get(semaphore.id());
            if (sum == null) {
                throw new IllegalStateException("The locked semaphore '" + semaphore.name() + "' has no sum");
            }
            rooms.put(locks.nameOf(semaphore), new Room(semaphore, sum));
        }
        return rooms;
    }

    /** An order that names what somebody else has locked is left for another transaction. */
    private static @Nullable GrantOutcome postponed(GrantOrder order, Set<String> locked) {
        return order.permits().keySet().stream()
                .filter(name -> !locked.contains(name))
                .findFirst()
                .map(GrantOutcome.Postponed::new)
                .orElse(null);
    }

    private Map<GrantOrder, GrantOutcome> write(Decision decision) {
        if (decision.approvals().isEmpty()) {
            return Map.of();
        }
        List<Decision.Approval> approvals = decision.approvals();
        LocalDateTime now = decision.now();
        statements.raiseFences(decision.watermarks(), approvals.size(), now);
        List<PermitRequest> requestRows = new ArrayList<>();
        List<Permit> permitRows = new ArrayList<>();
        Map<GrantOrder, GrantOutcome> outcomes = new HashMap<>();
        for (Decision.Approval approval : approvals) {
            PermitRequest request = PermitRequest.acquired(ids.next(), approval.order(), now);
            approval.order().remember(request.id());
            List<StoredPermit> stored = new ArrayList<>();
            approval.shares().forEach(share -> {
                Permit permit = new Permit(
                        ids.next(),
                        share.room().semaphoreId(),
                        request.id(),
                        share.count(),
                        approval.order().isExclusive(),
                        share.token());
                permitRows.add(permit);
                stored.add(new StoredPermit(permit.id(), share.name(), permit.count(), permit.token()));
            });
            requestRows.add(request);
            outcomes.put(approval.order(), new GrantOutcome.Granted(request.toGrant(stored, now), false));
        }
        requestRows.sort(
                Comparator.comparing(PermitRequest::externalId)); // two batches that insert in two orders deadlock
        statements.insertRequests(requestRows);
        statements.insertPermits(permitRows);
        return outcomes;
    }

    private Map<GrantOrder, GrantOutcome> refuse(Decision decision) {
        if (!decision.hasRefusals()) {
            return Map.of();
        }
        boolean isTold = decision.refusals().keySet().stream().anyMatch(order -> !order.isPatient());
        Map<Long, Instant> expiries = isTold ? earliestExpiries.of(decision.lacks()) : Map.of();
        Map<GrantOrder, GrantOutcome> outcomes = new HashMap<>();
        decision.refusals().forEach((order, shortages) -> {
            List<PermitShortage> described = shortages.stream()
                    .map(shortage -> shortage.describe(
                            Optional.ofNullable(expiries.get(shortage.room().semaphoreId()))))
                    .toList();
            outcomes.put(order, new GrantOutcome.Refused(described));
        });
        return outcomes;
    }
}
