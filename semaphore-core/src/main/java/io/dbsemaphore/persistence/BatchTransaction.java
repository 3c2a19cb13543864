package io.dbsemaphore.persistence;

import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.RequestAlreadyReleasedException;
import io.dbsemaphore.RequestConflictException;
import io.dbsemaphore.RequestInProgressException;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.domain.Allocation;
import io.dbsemaphore.domain.BatchOutcomes;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantBatch;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.HeldSum;
import io.dbsemaphore.domain.HolderScans;
import io.dbsemaphore.domain.LockedSemaphore;
import io.dbsemaphore.domain.PermitState;
import io.dbsemaphore.domain.ReclaimedRequest;
import io.dbsemaphore.domain.SemaphoreAvailability;
import io.dbsemaphore.domain.Shortfall;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import io.dbsemaphore.jdbc.SqlErrorKind;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.line.LineHead;
import io.dbsemaphore.line.OwnLines;
import io.dbsemaphore.line.Share;
import io.dbsemaphore.line.ShareTags;
import io.dbsemaphore.line.ShareTurns;
import io.dbsemaphore.line.Waiter;
import io.dbsemaphore.line.WaitersElsewhere;
import io.dbsemaphore.persistence.unit.CommitOutcomeUnknownException;
import io.dbsemaphore.persistence.unit.ShortTransaction;
import io.dbsemaphore.persistence.unit.Sql;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The transaction of a batch: it releases requests, and decides acquires.
 *
 * <p><b>An acquire</b> ({@link #grant}) takes two round trips, or one by {@link OneTripGrants}, if the driver pipelines; otherwise one for
 * each statement. The first of two round trips:
 *
 * <ol>
 *   <li>Piggy-backed releases are executed, so that their permits are available to the acquires.
 *   <li>Acquires whose external id exists are settled with the existing request.
 *   <li>The semaphore rows are locked: first the rows that the batch waits for, by one statement each, in ascending order of ids; then
 *       the others, in one statement that skips locked rows. Acquires that name a skipped or missing row are postponed.
 *   <li>If callers may be waiting for a semaphore, the waiting callers of the other instances are read.
 *   <li>The held permits are summed in a separate statement after the locks.
 * </ol>
 *
 * The decision:
 *
 * <ol>
 *   <li>Acquires that their callers have withdrawn are settled, the others claimed: a claimed acquire cannot be withdrawn, and its caller
 *       awaits the outcome.
 *   <li>The acquires are decided one after the other. If too few permits are available, expired ones are reclaimed, and the acquires
 *       are decided again.
 * </ol>
 *
 * The second round trip writes and commits: the fences are raised, the requests and permits are inserted, and the waiting callers of this
 * instance are recorded.
 *
 * <p>A grant holds the row lock until it commits, so that no two transactions see the same permits available.
 *
 * <p><b>A release</b> is a conditional update of the permits and the request. It locks no semaphore row, because it only increases
 * availability. The permits come first: a business transaction that has {@linkplain io.dbsemaphore.SemaphoreOperations#requireHeld checked}
 * a grant has locked them, perhaps for a long time. While a release waits for that transaction, it must not lock the request, which has to
 * be renewed. Only the short transactions of this library lock requests.
 *
 * <p>A release of many requests does not wait: it leaves out those with a locked permit. On PostgreSQL, one statement does that. On MySQL,
 * a lock is queued together with the release. In the rare case that one of the permits is locked, MySQL refuses that lock before anything
 * has been changed, and the release begins again by looking for the unlocked permits. If the driver does not pipeline, a release begins
 * with that search. If a request row is locked although its permits were not, the first attempt waits for it, and the next one skips it.
 *
 * <p>{@code OverGrantIntegrationTests} and {@code PiggybackedReleaseIntegrationTests} test it.
 */
public final class BatchTransaction {

    private static final Logger log = LoggerFactory.getLogger(BatchTransaction.class);

    private final ShortTransaction transaction;
    private final Tables tables;
    private final RequestReclaim reclaim;
    private final OneTripGrants oneTrips;
    private final HolderScans<Optional<Instant>> expiryScans = new HolderScans<>();

    BatchTransaction(ShortTransaction transaction, Tables tables, RequestReclaim reclaim, OneTripGrants oneTrips) {
        this.transaction = transaction;
        this.tables = tables;
        this.reclaim = reclaim;
        this.oneTrips = oneTrips;
    }

    /**
     * Decides the acquires of a batch, in order, each with an outcome of its own. Runs on the calling thread,
     * which belongs to the library.
     *
     * @param source supplies the batch; called after a connection has been obtained
     * @throws RuntimeException if the transaction failed as a whole; nothing was changed, unless it is a
     *     {@link CommitOutcomeUnknownException}
     */
    public BatchResult grant(Supplier<GrantBatch> source) {
        AtomicReference<OneTripGrants.@Nullable Attempt> oneTrip = new AtomicReference<>();
        try {
            Decision decided = transaction.executeHere(() -> {
                GrantBatch batch = source.get();
                OneTripGrants.Attempt attempt = oneTrips.begin(batch);
                oneTrip.set(attempt);
                Supplier<Set<Long>> release = queueRelease(batch.releases());
                if (attempt != null) {
                    attempt.queue(release);
                    return null;
                }
                try {
                    return decide(batch, release);
                } catch (RuntimeException failure) {
                    requireRefusal(batch.releases(), failure);
                    return decide(batch, queueReleaseOfUnlocked(batch.releases(), false));
                }
            });
            if (decided != null) {
                return remembered(decided);
            }
        } catch (RuntimeException failure) {
            OneTripGrants.Attempt attempt = oneTrip.get();
            if (attempt == null) {
                throw failure;
            }
            attempt.failed(failure);
            if (!attempt.isRefused(failure)) {
                throw failure;
            }
            GrantBatch batch = attempt.batch();
            return remembered(
                    transaction.executeHere(() -> decide(batch, queueReleaseOfUnlocked(batch.releases(), false))));
        }
        return Objects.requireNonNull(oneTrip.get()).result();
    }

    /** The decision of a transaction, valid only after its commit. */
    private record Decision(BatchResult result, Allocation allocation, ShareTable.Rows shares) {}

    private BatchResult remembered(Decision committed) {
        oneTrips.decided(committed.allocation());
        committed.allocation().availabilities().values().stream()
                .filter(each -> each.turns() != null)
                .forEach(each -> committed
                        .shares()
                        .keep(each.semaphoreId(), each.fence(), each.elsewhere().isEmpty()));
        return committed.result();
    }

    /**
     * Decides the acquires.
     *
     * @param release supplies the ids of the requests that the next round trip releases
     */
    private Decision decide(GrantBatch batch, Supplier<Set<Long>> release) {
        BatchOutcomes outcomes = new BatchOutcomes(batch.acquires());
        settleRepeated(outcomes);
        Locks locks = lock(outcomes, batch.awaited());
        // while this transaction waited for the lock, an acquire with the same external id may have been granted
        settleRepeated(outcomes);
        WaiterTable.Rows queues = tables.waiters().queues(batch.queues());
        queues.expect(locks.names(), outcomes.openNames(AcquireState::hasWaited));
        ShareTable.Rows shares = tables.shares().rows(true);
        expect(shares, locks.names(), outcomes, batch.queues());
        Map<String, SemaphoreAvailability> availabilities = sum(locks, queues);
        long answeredAt = System.nanoTime();
        Map<Long, ReleaseOutcome> released = outcomes(release.get(), ReleaseOutcome.RELEASED);
        forgetDeleted(locks, batch.awaited(), outcomes);
        outcomes.settleAll(acquire -> postponed(acquire, availabilities.keySet()));
        outcomes.settleAll(acquire -> acquire.claim() ? null : new GrantOutcome.Withdrawn());
        share(shares, availabilities.values(), outcomes.open(), batch.queues(), answeredAt);
        Allocation allocation = Allocation.of(outcomes.open(), availabilities);
        List<ReclaimedRequest> reclaimed =
                allocation.hasRefusals() ? reclaim.releaseFor(allocation.shortfalls()) : List.of();
        if (!reclaimed.isEmpty()) {
            Map<String, SemaphoreAvailability> after = sum(locks, queues);
            answeredAt = System.nanoTime();
            share(shares, after.values(), outcomes.open(), batch.queues(), answeredAt);
            allocation = Allocation.of(outcomes.open(), after);
        }
        outcomes.settleAll(write(allocation));
        count(shares, allocation);
        preventLateGrants(allocation);
        outcomes.settleAll(allocation.rejections());
        outcomes.settleAll(refuse(allocation));
        tell(queues, batch.queues(), allocation.waiters(answeredAt), allocation);
        return new Decision(
                new BatchResult(outcomes.outcomes(), allocation.remaining(), reclaimed, released, answeredAt),
                allocation,
                shares);
    }

    /** Ensures that an unanswered text, which may not have locked the row yet, cannot grant what this transaction refuses. */
    private void preventLateGrants(Allocation decision) {
        Stream.concat(decision.refusals().keySet().stream(), decision.rejections().keySet().stream())
                .filter(acquire -> acquire.attempt().isOutcomeUnknown())
                .forEach(acquire -> tables.requests()
                        .queueTakeIds(
                                acquire,
                                decision.availabilities()
                                        .values()
                                        .iterator()
                                        .next()
                                        .semaphoreId()));
    }

    /**
     * Settles the open acquires whose external id exists: with the same grant, or with the reason for a rejection. After a lost commit, the
     * next attempt finds its own grant here, at the latest under the row locks, which the lost transaction held.
     */
    private void settleRepeated(BatchOutcomes outcomes) {
        Map<String, AcquireState> candidates = new TreeMap<>();
        for (AcquireState acquire : outcomes.open()) {
            if (acquire.mayExist()) {
                candidates.put(acquire.command().externalId(), acquire);
            }
        }
        if (candidates.isEmpty()) {
            return;
        }
        tables.sql().flush(); // first: if a lock is refused, the piggy-backed releases begin again in this transaction
        List<PermitRequest> found = tables.requests().findByExternalIds(candidates.keySet()).stream()
                .sorted(Comparator.comparing(PermitRequest::id)) // the order in which releases and renewals lock
                .toList();
        for (PermitRequest each : found) {
            AcquireState acquire = candidates.get(each.externalId());
            if (acquire != null) {
                outcomes.settle(acquire, repeat(acquire, each));
            }
        }
    }

    private GrantOutcome repeat(AcquireState acquire, PermitRequest request) {
        AcquireCommand command = acquire.command();
        if (!request.contentDigest().equals(command.contentDigest())) {
            return new GrantOutcome.Rejected(new RequestConflictException(command.externalId(), command.describe()));
        }
        if (acquire.isOwnRequest(request.id())) {
            return repeatOwn(acquire, request);
        }
        if (!request.isAcquired()) {
            return new GrantOutcome.Rejected(new RequestAlreadyReleasedException(command.externalId()));
        }
        if (!command.replayable()) {
            return new GrantOutcome.Rejected(new RequestInProgressException(command.externalId(), request.owner()));
        }
        if (!acquire.claim()) {
            return new GrantOutcome.Withdrawn();
        }
        return tables.requests().replay(request.id(), command.ttl(), command.instance()) == 1
                ? new GrantOutcome.Granted(tables.grantOf(request.id()), true)
                : new GrantOutcome.Rejected(new RequestAlreadyReleasedException(command.externalId()));
    }

    /**
     * Returns the outcome after a lost commit. A TTL that has passed meanwhile begins anew, because the caller has not received the grant
     * yet.
     */
    private GrantOutcome repeatOwn(AcquireState acquire, PermitRequest request) {
        if (request.isAlive()) {
            return new GrantOutcome.Granted(tables.grantOf(request), false);
        }
        if (!acquire.claim()) {
            return new GrantOutcome.Withdrawn();
        }
        if (tables.requests().restart(request.id()) == 1) {
            return new GrantOutcome.Granted(tables.grantOf(request.id()), false);
        }
        AcquireCommand command = acquire.command();
        return new GrantOutcome.Rejected(
                command.externalIdGiven()
                        ? new RequestAlreadyReleasedException(command.externalId())
                        : new PermitLostException(command.externalId(), command.permits()));
    }

    /**
     * The row locks of a batch.
     *
     * @param names the names of the semaphores whose rows were to be locked, by id
     */
    private record Locks(SortedMap<Long, String> names, List<Supplier<List<LockedSemaphore>>> results) {

        List<LockedSemaphore> locked() {
            List<LockedSemaphore> locked = new ArrayList<>(names.size());
            results.forEach(result -> locked.addAll(result.get()));
            return locked;
        }

        /** Returns, by id, the names of the rows that do not exist or were skipped. */
        Map<Long, String> notLocked() {
            Map<Long, String> notLocked = new HashMap<>(names);
            locked().forEach(semaphore -> notLocked.remove(semaphore.id()));
            return notLocked;
        }
    }

    /** Locks the rows of the open acquires: immediately, or in the next round trip. */
    private Locks lock(BatchOutcomes outcomes, Set<String> awaited) {
        Set<String> wanted = outcomes.openNames();
        SortedMap<Long, String> names = tables.semaphores().byId(wanted);
        Set<String> known = Set.copyOf(names.values());
        if (!known.equals(wanted)) {
            outcomes.settleAll(acquire -> unknown(acquire, known));
            names.values().retainAll(outcomes.openNames());
        }
        List<Supplier<List<LockedSemaphore>>> results = new ArrayList<>();
        Set<Long> skippable = new TreeSet<>();
        names.forEach((id, name) -> {
            if (awaited.contains(name)) {
                results.add(tables.semaphores().lock(id));
            } else {
                skippable.add(id);
            }
        });
        if (!skippable.isEmpty()) {
            results.add(tables.semaphores().lockSkipLocked(skippable));
        }
        return new Locks(names, results);
    }

    private static @Nullable GrantOutcome unknown(AcquireState acquire, Set<String> known) {
        List<String> unknown = acquire.charges().keySet().stream()
                .filter(name -> !known.contains(name))
                .toList();
        return unknown.isEmpty() ? null : new GrantOutcome.Rejected(new SemaphoreNotFoundException(unknown));
    }

    /**
     * Forgets ids whose rows may have been deleted: a skipped row is locked or deleted. If it was skipped before, its name is looked up
     * again.
     */
    private void forgetDeleted(Locks locks, Set<String> awaited, BatchOutcomes outcomes) {
        Map<Long, String> notLocked = locks.notLocked();
        if (!notLocked.isEmpty()
                && (!Collections.disjoint(notLocked.values(), awaited)
                        || outcomes.open().stream()
                                .anyMatch(each -> each.attempt().blockedBy() != null))) {
            tables.semaphores().forget(notLocked.keySet());
        }
    }

    /** {@return the availability of the locked semaphores} */
    private Map<String, SemaphoreAvailability> sum(Locks locks, WaiterTable.Rows queues) {
        Map<Long, HeldSum> sums = tables.permits().sumHeld(locks.names().keySet());
        List<LockedSemaphore> locked = locks.locked();
        if (!sums.isEmpty()) {
            queues.read(locked, sums.values().iterator().next().now());
        }
        Map<String, SemaphoreAvailability> availabilities = new HashMap<>();
        for (LockedSemaphore semaphore : locked) {
            HeldSum sum = sums.get(semaphore.id());
            if (sum == null) {
                throw Sql.fewerRows(sums.size(), locked.size());
            }
            availabilities.put(
                    semaphore.name(),
                    new SemaphoreAvailability(
                            semaphore,
                            sum,
                            queues.elsewhere(semaphore.id(), sum.now()),
                            queues.limit(semaphore.name()),
                            share -> queues.limit(semaphore.name(), share)));
        }
        return availabilities;
    }

    /** Postpones an acquire that names a row that was locked or deleted. */
    private static @Nullable GrantOutcome postponed(AcquireState acquire, Set<String> locked) {
        for (String name : acquire.charges().keySet()) {
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
        tables.semaphores().queueRaiseFences(decision.watermarks(), decision.tokens(), now);
        List<PermitRequest> requestRows = new ArrayList<>();
        List<List<@Nullable Object>> permitRows = new ArrayList<>();
        Map<AcquireState, GrantOutcome> outcomes = new HashMap<>();
        for (Allocation.Approval approval : decision.approvals()) {
            if (approval.acquire().attempt().isWriteBlocked()) { // an insert that waits would block others
                tables.requests()
                        .queueLockOfExternalId(approval.acquire().command().externalId());
            }
            PermitRequest request =
                    new PermitRequest(tables.ids().next(), approval.acquire(), PermitState.ACQUIRED, now);
            approval.acquire().addRequestId(request.id());
            List<StoredPermit> stored = new ArrayList<>();
            approval.shares().forEach(share -> {
                StoredPermit permit = new StoredPermit(
                        tables.ids().next(),
                        share.availability().semaphoreId(),
                        share.name(),
                        share.count(),
                        share.token());
                stored.add(permit);
                permitRows.add(PermitTable.row(
                        permit, request.id(), approval.acquire().command().exclusive()));
            });
            requestRows.add(request);
            outcomes.put(approval.acquire(), new GrantOutcome.Granted(request.toGrant(stored), false));
        }
        requestRows.sort(Comparator.comparing(
                PermitRequest::externalId)); // batches that insert in different orders would deadlock
        tables.requests().queueInsert(requestRows);
        tables.permits().queueInsert(permitRows);
        return outcomes;
    }

    private Map<AcquireState, GrantOutcome> refuse(Allocation decision) {
        if (!decision.hasRefusals()) {
            return Map.of();
        }
        boolean reportsExpiry = decision.refusals().keySet().stream().anyMatch(acquire -> !decision.waits(acquire));
        return decision.refused(reportsExpiry ? earliestExpiries(decision.shortfalls()) : Map.of());
    }

    /**
     * Returns, by semaphore id, when the first held permit expires; no entry if none expires. The times may be cached.
     */
    private Map<Long, Instant> earliestExpiries(Collection<Shortfall> shortfalls) {
        Map<Long, Instant> expiries = new HashMap<>();
        List<Long> unknown = new ArrayList<>();
        Shortfall.ids(shortfalls)
                .forEach(id -> expiryScans
                        .recent(id)
                        .ifPresentOrElse(
                                recent -> recent.ifPresent(at -> expiries.put(id, at)), () -> unknown.add(id)));
        if (!unknown.isEmpty()) {
            long begin = expiryScans.begin();
            expiries.putAll(tables.requests().findEarliestExpiries(unknown));
            expiryScans.record(unknown, begin, id -> Optional.ofNullable(expiries.get(id)));
        }
        return expiries;
    }

    /** Tells other instances, in the order of the locks, which callers of this one wait after the transaction. */
    private static void tell(
            WaiterTable.Rows queues, OwnLines local, Map<String, List<Waiter>> refused, Allocation decision) {
        SortedMap<Long, SemaphoreAvailability> byId = new TreeMap<>();
        decision.availabilities().values().forEach(each -> byId.put(each.semaphoreId(), each));
        for (SemaphoreAvailability each : byId.values()) {
            String name = each.semaphore().name();
            List<Waiter> more = refused.getOrDefault(name, List.of());
            ShareTurns turns = each.turns();
            queues.write(
                    each.semaphore(), each.now(), turns == null ? local.of(name).with(more) : turns.headWith(more));
        }
    }

    /** Queues the query of shares where callers of this instance with shares wait, to save a round trip. */
    private static void expect(
            ShareTable.Rows shares, SortedMap<Long, String> names, BatchOutcomes outcomes, OwnLines local) {
        names.forEach((id, name) -> {
            LineHead waiting = local.of(name);
            List<AcquireState> asking = asking(name, outcomes.open());
            if (waiting.isShared()
                    || asking.stream()
                            .anyMatch(acquire ->
                                    !acquire.share().isNone() && (acquire.hasWaited() || !waiting.isEmpty()))) {
                Set<Share> expected = ShareTable.sharesOf(waiting, WaitersElsewhere.NONE);
                asking.forEach(acquire -> expected.add(acquire.share()));
                shares.expect(id, expected);
            }
        });
    }

    private static List<AcquireState> asking(String name, List<AcquireState> acquires) {
        return acquires.stream()
                .filter(acquire -> acquire.charges().containsKey(name))
                .toList();
    }

    /**
     * Has the acquires of semaphores decided by their shares, where callers wait and one of them has a share. While an instance waits that
     * knows no shares, all are decided by arrival.
     */
    private static void share(
            ShareTable.Rows shares,
            Collection<SemaphoreAvailability> availabilities,
            List<AcquireState> open,
            OwnLines local,
            long answeredAt) {
        for (SemaphoreAvailability each : availabilities) {
            String name = each.semaphore().name();
            List<AcquireState> asking = asking(name, open);
            LineHead waiting = local.of(name);
            boolean hasShares = waiting.isShared()
                    || each.elsewhere().hasShares()
                    || asking.stream().anyMatch(acquire -> !acquire.share().isNone());
            if (hasShares && local.isFair(name) && each.elsewhere().knowShares() && each.isContended(asking, waiting)) {
                Set<Share> read = ShareTable.sharesOf(waiting, each.elsewhere());
                asking.forEach(acquire -> read.add(acquire.share()));
                each.share(
                        asking,
                        shares.read(each.semaphoreId(), each.semaphore().fence(), read),
                        waiting,
                        local.weights(),
                        local.instance(),
                        answeredAt);
            }
        }
    }

    /** Counts the grants of acquires with shares, and tells the queue of this instance the tags. */
    private static void count(ShareTable.Rows shares, Allocation decision) {
        SortedMap<Long, SemaphoreAvailability> byId = new TreeMap<>();
        decision.availabilities().values().forEach(each -> byId.put(each.semaphoreId(), each));
        byId.forEach((id, each) -> {
            ShareTurns turns = each.turns();
            if (turns != null) {
                ShareTags tags = turns.tagsAfter();
                if (each.fence()
                        > each.semaphore().fence()) { // otherwise, other instances would not read the rows again
                    shares.write(id, tags, each.now());
                }
                tags.retain(turns.shares());
                each.setTags(tags);
            }
        });
    }

    /**
     * Releases requests, in one round trip if the driver pipelines. The outcomes are read after the commit.
     *
     * @param permitIds the ids of the permits of each request, by its id
     * @param waits whether to wait for permits locked by another transaction (only with a single request); otherwise requests
     *     with such permits are left out
     * @param blocked whether an earlier attempt met locked rows, so that locked requests are left out, too
     */
    public BatchResult release(SortedMap<Long, List<Long>> permitIds, boolean waits, boolean blocked) {
        Supplier<Set<Long>> released;
        try {
            released = transaction.execute(() -> waits
                    ? queueWaitingRelease(permitIds)
                    : blocked ? queueReleaseOfUnlocked(permitIds, true) : queueRelease(permitIds));
        } catch (RuntimeException failure) {
            requireRefusal(permitIds, failure);
            released = transaction.execute(() -> queueReleaseOfUnlocked(permitIds, false));
        }
        Map<Long, ReleaseOutcome> outcomes = outcomes(released.get(), ReleaseOutcome.RELEASED);
        if (outcomes.size() < permitIds.size()) {
            Set<Long> others = new TreeSet<>(permitIds.keySet());
            others.removeAll(outcomes.keySet());
            if (!waits) {
                findHeld(others).forEach(others::remove);
            }
            outcomes.putAll(outcomes(others, ReleaseOutcome.ALREADY_RELEASED));
        }
        return new BatchResult(List.of(), Map.of(), List.of(), outcomes, System.nanoTime());
    }

    private static Map<Long, ReleaseOutcome> outcomes(Set<Long> requestIds, ReleaseOutcome outcome) {
        Map<Long, ReleaseOutcome> outcomes = new HashMap<>();
        requestIds.forEach(id -> outcomes.put(id, outcome));
        return outcomes;
    }

    /** Returns the held requests among these; all of these if the query fails, because the rest of the batch is released anyway. */
    private List<Long> findHeld(Set<Long> requestIds) {
        try {
            return transaction.execute(() -> tables.requests().findHeld(requestIds));
        } catch (RuntimeException failure) {
            log.debug("Which of {} requests are held is not known", requestIds.size(), failure);
            return List.copyOf(requestIds);
        }
    }

    private Supplier<Set<Long>> queueWaitingRelease(SortedMap<Long, List<Long>> permitIds) {
        Supplier<Integer> released = tables.queueRelease(permitIds.firstKey());
        return () -> released.get() == 0 ? Set.of() : permitIds.keySet();
    }

    /** Queues the release of requests, except for those with a permit that another transaction has locked. Supplies the released ids. */
    private Supplier<Set<Long>> queueRelease(SortedMap<Long, List<Long>> permitIds) {
        if (permitIds.isEmpty()) {
            return Set::of;
        }
        if (!tables.sql().isPipelined()) {
            return queueReleaseOfUnlocked(permitIds, false);
        }
        Set<Long> all = PermitTable.idsOf(permitIds);
        if (tables.requests().releasesSkipLocked()) {
            Supplier<List<Long>> released = tables.requests().queueReleaseSkipLocked(permitIds.keySet(), all);
            Supplier<Integer> permits = tables.permits().queueReleaseOfReleased(all);
            return () -> permits.get() == all.size() ? permitIds.keySet() : Set.copyOf(released.get());
        }
        Supplier<List<Long>> locked = tables.permits().queueLock(all);
        Supplier<Integer> permits = tables.queueRelease(permitIds);
        return () -> permits.get() == all.size()
                ? permitIds.keySet() // whatever the number of rows in the other result
                : PermitTable.among(permitIds, locked.get()).keySet();
    }

    /** Throws the failure, unless it is a refused lock, after which nothing has been written and the release can begin again. */
    private static void requireRefusal(SortedMap<Long, List<Long>> permitIds, RuntimeException failure) {
        if (permitIds.isEmpty() || !SqlErrors.is(failure, SqlErrorKind.LOCK_REFUSED)) {
            throw failure;
        }
        log.debug("One of the permits of {} requests is locked", permitIds.size(), failure);
    }

    /** Queues the release of the requests whose permits it can lock. That takes one more round trip. */
    private Supplier<Set<Long>> queueReleaseOfUnlocked(SortedMap<Long, List<Long>> permitIds, boolean skipsRequests) {
        SortedMap<Long, List<Long>> unlocked = tables.permits().lockSkipLocked(permitIds);
        if (skipsRequests && !unlocked.isEmpty()) {
            unlocked.keySet().retainAll(tables.requests().lockSkipLocked(unlocked.keySet()));
        }
        tables.queueRelease(unlocked);
        Set<Long> released = unlocked.keySet();
        return () -> released;
    }
}
