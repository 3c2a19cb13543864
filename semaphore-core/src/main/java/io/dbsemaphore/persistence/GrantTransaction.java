package io.dbsemaphore.persistence;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.Allocation;
import io.dbsemaphore.domain.BatchOutcomes;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantBatch;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.HeldSum;
import io.dbsemaphore.domain.LockedSemaphore;
import io.dbsemaphore.domain.PartialReleaseException;
import io.dbsemaphore.domain.ReclaimedRequest;
import io.dbsemaphore.domain.SemaphoreAvailability;
import io.dbsemaphore.domain.StaleSemaphoreException;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import io.dbsemaphore.domain.TimeOrderedIds;
import io.dbsemaphore.persistence.ReleaseTransaction.FreeRelease;
import io.dbsemaphore.persistence.unit.CommitOutcomeUnknownException;
import io.dbsemaphore.persistence.unit.ShortTransaction;
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
    private final RepeatedCommands repeatedCommands;
    private final ReclaimForAcquire orphans;
    private final EarliestExpiries earliestExpiries;
    private final GrantStatements statements;
    private final TimeOrderedIds ids;

    GrantTransaction(
            ShortTransaction transaction,
            ReleaseTransaction releases,
            SemaphoreDirectory directory,
            RepeatedCommands repeatedCommands,
            ReclaimForAcquire orphans,
            EarliestExpiries earliestExpiries,
            GrantStatements statements,
            TimeOrderedIds ids) {
        this.transaction = transaction;
        this.releases = releases;
        this.directory = directory;
        this.repeatedCommands = repeatedCommands;
        this.orphans = orphans;
        this.earliestExpiries = earliestExpiries;
        this.statements = statements;
        this.ids = ids;
    }

    /**
     * Grants or refuses the orders, each with an outcome of its own, in their order.
     *
     * @param batch what to grant, asked for once there is a connection
     * @throws PartialReleaseException when one of the releases is the reason; nothing was done
     * @throws RuntimeException when the transaction failed as a whole: nothing was done, unless it is a
     *     {@link CommitOutcomeUnknownException}
     */
    public BatchResult grant(Supplier<GrantBatch> batch) {
        return transaction.execute(() -> grant(batch.get()));
    }

    private BatchResult grant(GrantBatch batch) {
        return releases.releaseFreeWithin(batch.releases(), release -> grant(batch, release));
    }

    private BatchResult grant(GrantBatch batch, FreeRelease release) {
        BatchOutcomes outcomes = new BatchOutcomes(batch.commands());
        repeatedCommands.settle(outcomes);
        RowLocks locks = lock(outcomes, batch.awaited());
        repeatedCommands.settle(outcomes); // who waited for the lock may have been overtaken by his own repetition
        Map<String, SemaphoreAvailability> availabilities = measure(locks);
        Set<Long> released = release.released();
        outcomes.settleAll(command -> postponed(command, availabilities.keySet()));
        outcomes.settleAll(command -> command.claim() ? null : new GrantOutcome.Withdrawn());
        Allocation decision = Allocation.of(outcomes.open(), availabilities);
        List<ReclaimedRequest> reclaimed =
                decision.hasRefusals() ? orphans.releaseOf(decision.shortfalls()) : List.of();
        if (!reclaimed.isEmpty()) {
            decision = Allocation.of(outcomes.open(), measure(locks));
        }
        write(decision).forEach(outcomes::settle);
        decision.rejections().forEach(outcomes::settle);
        refuse(decision).forEach(outcomes::settle);
        return new BatchResult(outcomes.outcomes(), decision.remaining(), reclaimed, released);
    }

    /** Locks what the orders name, by the next round trip. */
    private RowLocks lock(BatchOutcomes outcomes, Set<String> awaited) {
        Map<String, Long> known = settleUnknown(outcomes);
        SortedMap<Long, String> waiting = new TreeMap<>();
        SortedMap<Long, String> free = new TreeMap<>();
        outcomes.openNames().forEach(name -> (awaited.contains(name) ? waiting : free).put(idOf(known, name), name));
        return RowLocks.lock(statements, waiting, free);
    }

    private Map<String, Long> settleUnknown(BatchOutcomes outcomes) {
        Map<String, Long> known = directory.findIds(outcomes.openNames());
        outcomes.settleAll(command -> {
            List<String> unknown = command.permits().keySet().stream()
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
    private Map<String, SemaphoreAvailability> measure(RowLocks locks) {
        Map<Long, HeldSum> sums = statements.sumHeld(locks.ids());
        locks.firstMissing().ifPresent(missing -> {
            directory.forget(missing.getKey());
            throw new StaleSemaphoreException(missing.getValue());
        });
        Map<String, SemaphoreAvailability> availabilities = new HashMap<>();
        for (LockedSemaphore semaphore : locks.locked()) {
            HeldSum sum = sums.get(semaphore.id());
            if (sum == null) {
                throw new IllegalStateException("The locked semaphore '" + semaphore.name() + "' has no sum");
            }
            availabilities.put(locks.nameOf(semaphore), new SemaphoreAvailability(semaphore, sum));
        }
        return availabilities;
    }

    /** An order that names what somebody else has locked is left for another transaction. */
    private static @Nullable GrantOutcome postponed(AcquireCommand command, Set<String> locked) {
        return command.permits().keySet().stream()
                .filter(name -> !locked.contains(name))
                .findFirst()
                .map(GrantOutcome.Postponed::new)
                .orElse(null);
    }

    private Map<AcquireCommand, GrantOutcome> write(Allocation decision) {
        if (decision.approvals().isEmpty()) {
            return Map.of();
        }
        List<Allocation.Approval> approvals = decision.approvals();
        LocalDateTime now = decision.now();
        statements.raiseFences(decision.watermarks(), approvals.size(), now);
        List<PermitRequest> requestRows = new ArrayList<>();
        List<Permit> permitRows = new ArrayList<>();
        Map<AcquireCommand, GrantOutcome> outcomes = new HashMap<>();
        for (Allocation.Approval approval : approvals) {
            PermitRequest request = PermitRequest.acquired(ids.next(), approval.command(), now);
            approval.command().remember(request.id());
            List<StoredPermit> stored = new ArrayList<>();
            approval.shares().forEach(share -> {
                Permit permit = new Permit(
                        ids.next(),
                        share.availability().semaphoreId(),
                        request.id(),
                        share.count(),
                        approval.command().isExclusive(),
                        share.token());
                permitRows.add(permit);
                stored.add(new StoredPermit(permit.id(), share.name(), permit.count(), permit.token()));
            });
            requestRows.add(request);
            outcomes.put(approval.command(), new GrantOutcome.Granted(request.toGrant(stored, now), false));
        }
        requestRows.sort(
                Comparator.comparing(PermitRequest::externalId)); // two batches that insert in two orders deadlock
        statements.insertRequests(requestRows);
        statements.insertPermits(permitRows);
        return outcomes;
    }

    private Map<AcquireCommand, GrantOutcome> refuse(Allocation decision) {
        if (!decision.hasRefusals()) {
            return Map.of();
        }
        boolean isTold = decision.refusals().keySet().stream().anyMatch(command -> !command.isWillingToWait());
        Map<Long, Instant> expiries = isTold ? earliestExpiries.of(decision.shortfalls()) : Map.of();
        Map<AcquireCommand, GrantOutcome> outcomes = new HashMap<>();
        decision.refusals().forEach((command, shortages) -> {
            List<PermitShortage> described = shortages.stream()
                    .map(shortage -> shortage.describe(Optional.ofNullable(
                            expiries.get(shortage.availability().semaphoreId()))))
                    .toList();
            outcomes.put(command, new GrantOutcome.Refused(described));
        });
        return outcomes;
    }
}
