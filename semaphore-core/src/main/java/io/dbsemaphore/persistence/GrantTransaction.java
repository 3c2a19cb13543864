package io.dbsemaphore.persistence;

import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.domain.Allocation;
import io.dbsemaphore.domain.BatchOutcomes;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantBatch;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.HeldSum;
import io.dbsemaphore.domain.LocalQueues;
import io.dbsemaphore.domain.LockedSemaphore;
import io.dbsemaphore.domain.PartialReleaseException;
import io.dbsemaphore.domain.ReclaimedRequest;
import io.dbsemaphore.domain.SemaphoreAvailability;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import io.dbsemaphore.domain.Waiter;
import io.dbsemaphore.persistence.unit.CommitOutcomeUnknownException;
import io.dbsemaphore.persistence.unit.ShortTransaction;
import io.dbsemaphore.persistence.unit.TimeOrderedIds;
import io.dbsemaphore.persistence.waiting.BatchQueues;
import io.dbsemaphore.persistence.waiting.InstanceQueues;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionStatus;

/**
 * The transaction that decides a batch of acquires.
 *
 * <ol>
 *   <li>Piggy-backed releases are executed, so that their permits are available to the acquires.
 *   <li>Acquires whose external id exists are settled with the existing request. If another transaction was found to have
 *       inserted the external id of an acquire, its end is awaited.
 *   <li>The semaphore rows are locked: those that are waited for by one statement each, in ascending order of ids; then the
 *       others, in one statement that skips locked rows. Acquires that name a skipped or missing row are postponed.
 *   <li>The held permits are summed in a separate statement, in the same round trip if the driver pipelines.
 *   <li>If callers may be waiting for a semaphore, the queues of the other instances are read.
 *   <li>Acquires that their callers have withdrawn are settled, the others claimed: from now on a caller that gives up has to
 *       have its grant undone.
 *   <li>The acquires are decided one after the other. If too few permits are available, expired ones are reclaimed first.
 *   <li>The fences are raised, the requests and permits are inserted, the callers of this instance that wait are recorded,
 *       and the transaction is committed, in one round trip if the driver pipelines.
 * </ol>
 *
 * A grant holds the row lock until it commits, so that no two transactions see the same permits available. A release needs
 * no such lock, since it only increases availability.
 */
public final class GrantTransaction {

    private final ShortTransaction transaction;
    private final ReleaseTransaction releases;
    private final SemaphoreDirectory directory;
    private final RepeatedCommands repeatedCommands;
    private final ReclaimForAcquire reclaim;
    private final EarliestExpiries earliestExpiries;
    private final SemaphoreRepository semaphores;
    private final PermitRequestRepository requests;
    private final PermitRepository permits;
    private final InstanceQueues instanceQueues;
    private final TimeOrderedIds ids;

    GrantTransaction(
            ShortTransaction transaction,
            ReleaseTransaction releases,
            SemaphoreDirectory directory,
            RepeatedCommands repeatedCommands,
            ReclaimForAcquire reclaim,
            EarliestExpiries earliestExpiries,
            SemaphoreRepository semaphores,
            PermitRequestRepository requests,
            PermitRepository permits,
            InstanceQueues instanceQueues,
            TimeOrderedIds ids) {
        this.transaction = transaction;
        this.releases = releases;
        this.directory = directory;
        this.repeatedCommands = repeatedCommands;
        this.reclaim = reclaim;
        this.earliestExpiries = earliestExpiries;
        this.semaphores = semaphores;
        this.requests = requests;
        this.permits = permits;
        this.instanceQueues = instanceQueues;
        this.ids = ids;
    }

    /**
     * Decides the acquires of a batch, in order, each with an outcome of its own. Must be called on a thread without a
     * transaction of the host.
     *
     * @param source supplies the batch; called after a connection has been obtained
     * @throws PartialReleaseException if a piggy-backed release failed; nothing was changed
     * @throws RuntimeException if the transaction failed as a whole; nothing was changed, unless it is a
     *     {@link CommitOutcomeUnknownException}
     */
    public BatchResult grant(Supplier<GrantBatch> source) {
        TransactionStatus status = transaction.begin();
        BatchResult result;
        try {
            GrantBatch batch = source.get();
            try {
                result = decide(batch, releases.queue(batch.releases()));
            } catch (RuntimeException failure) {
                result = decide(batch, releases.queueSkipLockedAfterRefusal(batch.releases(), failure));
            }
        } catch (RuntimeException | Error failure) {
            throw transaction.rollBack(status, failure);
        }
        transaction.commit(status);
        return result;
    }

    private BatchResult decide(GrantBatch batch, PendingRelease release) {
        BatchOutcomes outcomes = new BatchOutcomes(batch.acquires());
        repeatedCommands.settle(outcomes);
        awaitLockedExternalIds(outcomes);
        RowLocks locks = lock(outcomes, batch.awaited());
        // while this transaction waited for the lock, an acquire with the same external id may have been granted
        repeatedCommands.settle(outcomes);
        BatchQueues queues = instanceQueues.batch(batch.queues());
        queues.expect(locks.all(), outcomes.namesRefusedBefore());
        Map<String, SemaphoreAvailability> availabilities = availabilities(locks, permits.sumHeld(locks.ids()), queues);
        Set<Long> released = release.released().get();
        forgetDeleted(locks, outcomes);
        outcomes.settleAll(acquire -> postponed(acquire, availabilities.keySet()));
        outcomes.settleAll(acquire -> acquire.claim() ? null : new GrantOutcome.Withdrawn());
        Allocation allocation = Allocation.of(outcomes.open(), availabilities);
        List<ReclaimedRequest> reclaimed =
                allocation.hasRefusals() ? reclaim.releaseOf(allocation.shortfalls()) : List.of();
        if (!reclaimed.isEmpty()) {
            allocation = Allocation.of(outcomes.open(), availabilities(locks, permits.sumHeld(locks.ids()), queues));
        }
        write(allocation).forEach(outcomes::settle);
        allocation.rejections().forEach(outcomes::settle);
        refuse(allocation).forEach(outcomes::settle);
        tell(queues, batch.queues(), allocation);
        return new BatchResult(outcomes.outcomes(), allocation.remaining(), reclaimed, released);
    }

    private void awaitLockedExternalIds(BatchOutcomes outcomes) {
        outcomes.open().stream()
                .filter(AcquireState::isExternalIdLocked)
                .map(AcquireState::command)
                .forEach(command -> requests.queueWaitForExternalId(
                        command.externalId(), () -> PermitRequest.undone(ids.next(), command, requests.now())));
    }

    /** Locks the rows of the open acquires: immediately, or in the next round trip. */
    private RowLocks lock(BatchOutcomes outcomes, Set<String> awaited) {
        Map<String, Long> known = settleUnknown(outcomes);
        NavigableMap<Long, String> waited = new TreeMap<>();
        NavigableMap<Long, String> skippable = new TreeMap<>();
        outcomes.openNames()
                .forEach(name -> (awaited.contains(name) ? waited : skippable).put(idOf(known, name), name));
        RowLocks locks = new RowLocks(semaphores, waited, skippable);
        if (semaphores.areOneRoundTrip()) {
            locks.queueLocks();
        } else {
            locks.lockOneByOne();
        }
        return locks;
    }

    private Map<String, Long> settleUnknown(BatchOutcomes outcomes) {
        Map<String, Long> known = directory.findIds(outcomes.openNames());
        outcomes.settleAll(acquire -> {
            Set<String> names = acquire.command().permits().keySet();
            if (known.keySet().containsAll(names)) {
                return null;
            }
            return new GrantOutcome.Rejected(new SemaphoreNotFoundException(
                    names.stream().filter(name -> !known.containsKey(name)).toList()));
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

    /** A row that is skipped is locked or deleted. The name is looked up again if that was so at an earlier attempt. */
    private void forgetDeleted(RowLocks locks, BatchOutcomes outcomes) {
        Set<Long> notLocked = locks.notLocked();
        if (!notLocked.isEmpty()
                && (locks.isAnyMissing() || outcomes.open().stream().anyMatch(each -> each.blockedBy() != null))) {
            directory.forget(notLocked);
        }
    }

    private Map<String, SemaphoreAvailability> availabilities(
            RowLocks locks, Map<Long, HeldSum> sums, BatchQueues queues) {
        List<LockedSemaphore> locked = locks.locked();
        queues.read(locked, semaphore -> sumOf(semaphore, sums).now());
        Map<String, SemaphoreAvailability> availabilities = new HashMap<>();
        for (LockedSemaphore semaphore : locked) {
            HeldSum sum = sumOf(semaphore, sums);
            availabilities.put(
                    locks.nameOf(semaphore),
                    new SemaphoreAvailability(semaphore, sum, queues.elsewhere(semaphore, sum.now())));
        }
        return availabilities;
    }

    private static HeldSum sumOf(LockedSemaphore semaphore, Map<Long, HeldSum> sums) {
        HeldSum sum = sums.get(semaphore.id());
        if (sum == null) {
            throw new IllegalStateException("The locked semaphore '" + semaphore.name() + "' has no sum");
        }
        return sum;
    }

    /** Tells other instances which callers of this one wait after the transaction: in the order of the locks, as a poll does. */
    private static void tell(BatchQueues queues, LocalQueues local, Allocation decision) {
        Map<String, List<Waiter>> refused = decision.waiters();
        decision.availabilities().entrySet().stream()
                .sorted(Comparator.comparing(entry -> entry.getValue().semaphoreId()))
                .forEach(entry -> queues.write(
                        entry.getValue().semaphore(),
                        entry.getValue().now(),
                        local.of(entry.getKey()).with(refused.getOrDefault(entry.getKey(), List.of()))));
    }

    /** Postpones an acquire that names a row that another transaction has locked, or deleted: a later batch looks it up again. */
    private static @Nullable GrantOutcome postponed(AcquireState acquire, Set<String> locked) {
        for (String name : acquire.command().permits().keySet()) {
            if (!locked.contains(name)) {
                return new GrantOutcome.Postponed(name);
            }
        }
        return null;
    }

    private Map<AcquireState, GrantOutcome> write(Allocation decision) {
        if (decision.approvals().isEmpty()) {
            return Map.of();
        }
        LocalDateTime now = decision.now();
        semaphores.queueRaiseFences(decision.watermarks(), decision.tokens(), now);
        List<PermitRequest> requestRows = new ArrayList<>();
        List<Permit> permitRows = new ArrayList<>();
        Map<AcquireState, GrantOutcome> outcomes = new HashMap<>();
        for (Allocation.Approval approval : decision.approvals()) {
            PermitRequest request =
                    PermitRequest.acquired(ids.next(), approval.acquire().command(), now);
            approval.acquire().addRequestId(request.id());
            List<StoredPermit> stored = new ArrayList<>();
            approval.shares().forEach(share -> {
                Permit permit = new Permit(
                        ids.next(),
                        share.availability().semaphoreId(),
                        request.id(),
                        share.count(),
                        approval.acquire().command().exclusive(),
                        share.token());
                permitRows.add(permit);
                stored.add(new StoredPermit(permit.id(), share.name(), permit.count(), permit.token()));
            });
            requestRows.add(request);
            outcomes.put(approval.acquire(), new GrantOutcome.Granted(request.toGrant(stored, now), false));
        }
        requestRows.sort(Comparator.comparing(
                PermitRequest::externalId)); // batches that insert in different orders would deadlock
        requests.insertAll(requestRows);
        permits.insertAll(permitRows);
        return outcomes;
    }

    private Map<AcquireState, GrantOutcome> refuse(Allocation decision) {
        if (!decision.hasRefusals()) {
            return Map.of();
        }
        boolean reportsExpiry = decision.refusals().keySet().stream().anyMatch(acquire -> !acquire.isWillingToWait());
        Map<Long, Instant> expiries = reportsExpiry ? earliestExpiries.of(decision.shortfalls()) : Map.of();
        Map<AcquireState, GrantOutcome> outcomes = new HashMap<>();
        decision.refusals().forEach((acquire, shortages) -> {
            List<PermitShortage> described = shortages.stream()
                    .map(shortage -> shortage.describe(Optional.ofNullable(
                            expiries.get(shortage.availability().semaphoreId()))))
                    .toList();
            outcomes.put(acquire, new GrantOutcome.Refused(described));
        });
        return outcomes;
    }
}
