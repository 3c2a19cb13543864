package io.dbsemaphore.persistence;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.admin.InstanceStatus;
import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.admin.SemaphoreAdmin.PermitUse;
import io.dbsemaphore.admin.SemaphoreAdmin.Reclaim;
import io.dbsemaphore.admin.SemaphoreInUseException;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.admin.SemaphoreStatus.ShareStatus;
import io.dbsemaphore.admin.SemaphoreStatus.Since;
import io.dbsemaphore.admin.SemaphoreStatus.WaitingCaller;
import io.dbsemaphore.admin.SemaphoreStatus.WaitingInstance;
import io.dbsemaphore.domain.LockedSemaphore;
import io.dbsemaphore.domain.PatternCapacity;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.line.LineHead;
import io.dbsemaphore.line.RecordedHead;
import io.dbsemaphore.line.Share;
import io.dbsemaphore.line.ShareOrder;
import io.dbsemaphore.line.ShareTags;
import io.dbsemaphore.line.WaitersElsewhere;
import io.dbsemaphore.persistence.PermitTable.NamedPermit;
import io.dbsemaphore.persistence.unit.ShortTransaction;
import io.dbsemaphore.persistence.unit.TableCheck;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.data.domain.Limit;

/**
 * The operations of an administrator, each in a transaction of its own. A change of a semaphore locks its row, like a grant.
 * A report locks nothing.
 */
public record AdminTransactions(ShortTransaction transaction, Tables tables) {

    /**
     * The number of released permits that a search for past uses scans, unless more are asked for. A longer scan would find only requests
     * that were held for a long time.
     */
    private static final int SCANNED = 2_000;

    /** A period that contains all times. */
    private static final LocalDateTime BEGIN = LocalDateTime.of(2000, 1, 1, 0, 0);

    private static final LocalDateTime END = LocalDateTime.of(9999, 1, 1, 0, 0);

    /** Finds the first names in alphabetical order, except those of pattern-created semaphores. */
    public List<String> names(int limit) {
        return transaction.execute(() -> tables.semaphores().findNames(limit));
    }

    /**
     * Creates a semaphore; returns false if it exists. A semaphore that a pattern has created belongs to the operator from then on.
     *
     * @throws RuntimeException for a duplicate key, if another transaction creates it at the same time; retry
     */
    public boolean create(String name, int capacity) {
        return transaction.execute(() -> {
            boolean missing = tables.semaphores().findId(name).isEmpty();
            if (missing) {
                insert(name, capacity);
            } else {
                tables.semaphores().leavePattern(name);
            }
            return missing;
        });
    }

    /**
     * A semaphore that a pattern creates.
     *
     * @param provided whether a provider of the application gave the capacity
     */
    public record PatternSemaphore(String name, int capacity, String pattern, boolean provided) {}

    /**
     * The result of {@link #createOfPatterns}. Semaphores in neither component existed before.
     *
     * @param created the semaphores that are new, sorted by name
     * @param beyondLimit the names of the semaphores that the limit does not allow
     * @param ofPatterns the number of pattern-created semaphores now; negative if unknown
     */
    public record Creation(List<PatternSemaphore> created, Set<String> beyondLimit, long ofPatterns) {}

    /**
     * Creates missing semaphores, in order, as far as the limit allows.
     *
     * @param wanted the semaphores, with distinct names
     * @param maxOfPatterns the maximum number of semaphores created by patterns
     * @param guard the name of the semaphore whose row is locked while those of patterns are counted
     * @param known the number of semaphores of patterns; negative to count them
     * @throws RuntimeException for a duplicate key if another transaction creates one at the same time; retry
     */
    public Creation createOfPatterns(
            Collection<PatternSemaphore> wanted, long maxOfPatterns, String guard, long known) {
        return transaction.execute(() -> {
            if (lock(guard).isEmpty()) {
                insert(guard, 1);
            }
            Set<String> existing = tables.semaphores()
                    .findIds(wanted.stream().map(PatternSemaphore::name).toList())
                    .keySet();
            List<PatternSemaphore> missing = wanted.stream()
                    .filter(each -> !existing.contains(each.name()))
                    .toList();
            if (missing.isEmpty()) {
                return new Creation(List.of(), Set.of(), known);
            }
            long before = known < 0 ? tables.semaphores().countOfPatterns() : known;
            long allowed = Math.max(0, maxOfPatterns - before);
            List<PatternSemaphore> created = missing.stream()
                    .limit(allowed)
                    .sorted(Comparator.comparing(PatternSemaphore::name))
                    .toList();
            tables.semaphores()
                    .insert(created.stream()
                            .map(each -> row(
                                    each.name(),
                                    each.capacity(),
                                    each.pattern(),
                                    each.provided() ? PatternCapacity.PROVIDER : null))
                            .toList());
            return new Creation(
                    created,
                    missing.stream().skip(allowed).map(PatternSemaphore::name).collect(Collectors.toSet()),
                    before + created.size());
        });
    }

    private void insert(String name, int capacity) {
        tables.semaphores().insert(List.of(row(name, capacity, null, null)));
    }

    private List<@Nullable Object> row(String name, int capacity, @Nullable String pattern, @Nullable String setBy) {
        return Arrays.asList(tables.ids().next(), name, capacity, pattern, setBy);
    }

    /** Counts the semaphores of patterns. */
    public long countOfPatterns() {
        return transaction.execute(tables.semaphores()::countOfPatterns);
    }

    /** Finds the next semaphores of patterns, by id. */
    public List<PatternCapacity> findOfPatterns(long afterId, int limit) {
        return transaction.execute(() -> tables.semaphores().findOfPatterns(afterId, limit));
    }

    /**
     * Finds the next semaphores of patterns, by id, whose name matches a glob and whose capacity is neither {@code otherThan} nor set by a provider.
     */
    public List<PatternCapacity> findOfPatterns(String glob, int otherThan, long afterId, int limit) {
        return transaction.execute(() -> tables.semaphores().findOfPatterns(glob, otherThan, afterId, limit));
    }

    /**
     * Changes the capacity of semaphores of patterns, unless it was set by hand meanwhile, and inserts the audit rows. Waits for a single
     * row; among several, skips those that other transactions have locked.
     *
     * @param changedBy an operator, or a constant of {@link PatternCapacity}
     * @return the number of changes
     */
    public int setCapacities(List<Long> ids, int capacity, String changedBy, String reason) {
        return transaction.execute(() -> {
            List<PatternCapacity> others = tables.semaphores().lockOfPatterns(ids).stream()
                    .filter(each -> each.differsFrom(capacity, changedBy))
                    .toList();
            List<Long> changed = others.stream().map(PatternCapacity::id).toList();
            if (!changed.isEmpty()) {
                tables.semaphores().queueUpdateCapacities(changed, capacity, changedBy);
                tables.history()
                        .add(others.stream()
                                .filter(each -> each.capacity() != capacity)
                                .map(each -> tables.history()
                                        .changed(each.name(), each.capacity(), capacity, changedBy, reason))
                                .toList());
            }
            return changed.size();
        });
    }

    /**
     * Releases a request without its holder, and inserts one audit row for each semaphore in the same transaction. Waits if another
     * transaction has locked the request or its permits.
     */
    public ReleaseOutcome forceRelease(String externalId, String releasedBy, String reason) {
        return transaction.execute(() -> {
            List<PermitRequest> found = tables.requests().findByExternalIds(List.of(externalId));
            if (found.isEmpty()) {
                return ReleaseOutcome.NOT_FOUND;
            }
            PermitRequest request = found.get(0);
            Supplier<Integer> released = tables.queueRelease(request.id());
            List<NamedPermit> permits = tables.permits().findByRequests(List.of(request.id()));
            if (released.get() == 0) {
                return ReleaseOutcome.ALREADY_RELEASED;
            }
            tables.history()
                    .add(permits.stream()
                            .map(permit -> tables.history().released(permit, request, releasedBy, reason))
                            .toList());
            return ReleaseOutcome.RELEASED;
        });
    }

    /** Sets a capacity by hand, and inserts an audit row if it has changed. */
    public void setCapacity(String name, int capacity, String changedBy, String reason) {
        transaction.run(() -> {
            LockedSemaphore semaphore = lock(name).orElseThrow(() -> SemaphoreNotFoundException.nothingChanged(name));
            tables.semaphores().queueUpdateCapacity(semaphore.id(), capacity, changedBy);
            if (semaphore.capacity() != capacity) {
                tables.history()
                        .add(List.of(
                                tables.history().changed(name, semaphore.capacity(), capacity, changedBy, reason)));
            }
        });
    }

    /** Deletes a semaphore of which no permit is held; false if it does not exist. */
    public boolean delete(String name) {
        return transaction.executeWithRepositories(() -> {
            Optional<LockedSemaphore> semaphore = lock(name);
            if (semaphore.isEmpty()) {
                return false;
            }
            long id = semaphore.get().id();
            long held = tables.semaphores().rows().sumHeld(id);
            if (held > 0) {
                throw new SemaphoreInUseException(name, held);
            }
            tables.semaphores().rows().delete(id);
            tables.shares().deleteOf(List.of(id));
            tables.semaphores().forget(List.of(id));
            return true;
        });
    }

    /** Reads from each table, and executes an update that matches no row, to detect a missing table or a read-only server. */
    public void touchTables(List<Class<?>> entities) {
        transaction.run(() -> {
            tables.sql().locate("semaphore");
            TableCheck.touch(tables.sql(), entities);
        });
    }

    /**
     * Runs a {@linkplain Drill drill}.
     *
     * @param oneServer whether all sessions are on one server, whose locks and clock they share
     * @throws Drill.Deviation if it found a deviation
     */
    public void drill(boolean oneServer) {
        new Drill(transaction, tables, oneServer).run();
    }

    private Optional<LockedSemaphore> lock(String name) {
        Optional<Supplier<List<LockedSemaphore>>> locked =
                tables.semaphores().findId(name).map(tables.semaphores()::lock);
        tables.sql().flush();
        return locked.flatMap(rows -> rows.get().stream().findFirst());
    }

    private SemaphoreReports reports() {
        return tables.reports().get();
    }

    /** Reads the database's clock. */
    public Instant now() {
        return StoredGrant.instant(transaction.execute(tables.requests()::now));
    }

    public Optional<SemaphoreStatus> find(String name) {
        return transaction.execute(() -> tables.semaphores().findStatus(name));
    }

    /** Reads one page of the statuses of semaphores whose names contain a text, sorted by name. */
    public List<SemaphoreStatus> list(String containing, String afterName, int limit) {
        return transaction.execute(() -> tables.semaphores().findStatuses(containing, afterName, limit));
    }

    /** Reads since when callers wait and permits are held, for the semaphores of such a page. */
    public List<Since> since(String containing, String afterName, int limit) {
        return transaction.execute(() -> tables.semaphores().findSince(containing, afterName, limit));
    }

    /** Counts the requests, of all semaphores, that were granted within this time, up to the limit. */
    public int granted(Duration last, int limit) {
        return transaction.execute(() -> tables.requests().countGranted(last, limit));
    }

    /** Reads a page of holders, by token, whose owner, label or external id contains a text. */
    public List<PermitHolder> holders(String name, String containing, long afterToken, int limit) {
        return of(
                name,
                id -> reports().findHolders(id, containing, afterToken, Limit.of(limit)),
                SemaphoreReports.Holder::toContract);
    }

    /** Describes the longest holders of a semaphore. Needs no Hibernate. */
    public List<String> firstHolders(String name, int limit) {
        return transaction.execute(() -> tables.permits().findFirstHolders(name, limit));
    }

    /** Reads the waiting callers of each instance; the instance that has waited longest comes first. */
    public List<WaitingInstance> waiting(String name) {
        return of(name, id -> reports().findWaiting(id), SemaphoreWaiter::toContract);
    }

    /** Reads the waiting callers that the instances have told each other of; the next one comes first. */
    public List<WaitingCaller> waitingCallers(String name, int limit) {
        List<SemaphoreWaiter> rows = of(name, id -> reports().findWaiting(id), row -> row);
        WaitersElsewhere waiting = new WaitersElsewhere(
                0, rows.stream().map(SemaphoreWaiter::toHead).toList());
        List<WaitingCaller> callers = new ArrayList<>();
        for (RecordedHead.Standing each :
                RecordedHead.inOrder(byShares(name, waiting).queues())) {
            if (callers.size() < limit) {
                callers.add(rows.get(each.head()).toContract(each, callers.size()));
            }
        }
        return callers;
    }

    /**
     * Reads the shares that hold permits or wait for them; those with the most permits come first, then those with the most callers.
     *
     * @param weights the weight of a tenant, and of a key by its path, as this instance knows it
     */
    public List<ShareStatus> shares(String name, int limit, ToIntFunction<String> weights) {
        Map<String, Long> held = new HashMap<>();
        of(name, id -> reports().findShares(id, Limit.of(limit)), row -> row)
                .forEach(row -> held.put(row.share(), row.held()));
        List<RecordedHead> heads = of(name, id -> reports().findWaiting(id), SemaphoreWaiter::toHead);
        WaitersElsewhere waiting = new WaitersElsewhere(0, heads);
        Set<Share> shares = new HashSet<>(waiting.shares());
        shares.remove(Share.NONE);
        held.keySet().forEach(path -> shares.add(Share.of(path)));
        ToIntFunction<String> largest = ShareOrder.weights(List.of(), waiting, weights);
        return shares.stream()
                .map(share -> new ShareStatus(
                        share.path(),
                        held.getOrDefault(share.path(), 0L),
                        waiting.callers(share),
                        heads.stream().anyMatch(head -> head.mayHaveMore(share)),
                        largest.applyAsInt(share.tenant()),
                        largest.applyAsInt(share.keyPath())))
                .sorted(Comparator.comparingLong(ShareStatus::held)
                        .thenComparingLong(ShareStatus::waiting)
                        .reversed()
                        .thenComparing(ShareStatus::share))
                .limit(limit)
                .toList();
    }

    /** The callers at the places that they have by their shares; callers of several semaphores stand behind the others. */
    private WaitersElsewhere byShares(String name, WaitersElsewhere waiting) {
        if (!waiting.hasShares() || !waiting.knowShares()) {
            return waiting;
        }
        return transaction.execute(() -> {
            Long id = tables.semaphores().findId(name).orElse(null);
            SemaphoreStatus status = tables.semaphores().findStatus(name).orElse(null);
            if (id == null || status == null) { // just deleted
                return waiting;
            }
            ShareTags tags = tables.shares().rows(false).read(id, 0, ShareTable.sharesOf(LineHead.EMPTY, waiting));
            ToIntFunction<String> weights = ShareOrder.weights(List.of(), waiting, share -> 1);
            return new ShareOrder(List.of(), waiting, tags, weights, status.capacity(), false).elsewhere();
        });
    }

    /**
     * Finds the requests that held permits within a period, the last acquired first. If there are too many, released ones are left out
     * first. Requests have no index on their times, because it would slow down each acquire and release. The tokens of a semaphore grow
     * with time: a binary search over them finds the end of the period, and a scan of limited length finds the requests before it.
     */
    public List<PermitUse> uses(String name, Instant from, Instant to, int limit) {
        return of(name, id -> uses(id, clamp(from), clamp(to), limit), SemaphoreReports.Use::toContract);
    }

    /** Limits a time to the timestamps that every database can compare with. */
    private static LocalDateTime clamp(Instant time) {
        if (time.isBefore(StoredGrant.instant(BEGIN))) {
            return BEGIN;
        }
        return time.isAfter(StoredGrant.instant(END)) ? END : StoredGrant.utc(time);
    }

    private List<SemaphoreReports.Use> uses(long semaphoreId, LocalDateTime from, LocalDateTime to, int limit) {
        List<SemaphoreReports.Use> held = reports().findUses(semaphoreId, to, Limit.of(limit));
        List<SemaphoreReports.Use> released = reports()
                .findUses(semaphoreId, lastToken(semaphoreId, to), from, to, Math.max(SCANNED, limit), Limit.of(limit));
        Map<Long, SemaphoreReports.Use> byToken = new TreeMap<>(Comparator.reverseOrder());
        Stream.concat(held.stream(), released.stream().limit(limit - held.size()))
                .forEach(use -> byToken.put(use.token(), use)); // both queries find a use that was released in between
        return List.copyOf(byToken.values());
    }

    /** Finds the highest token of the released permits that were acquired until then; 0 if there are none. */
    private long lastToken(long semaphoreId, LocalDateTime until) {
        long low = 0;
        long high = Long.MAX_VALUE;
        long middle = high;
        while (low < high) {
            Optional<SemaphoreReports.Use> newest =
                    reports().findUses(semaphoreId, middle, BEGIN, END, 1, Limit.of(1)).stream()
                            .findFirst();
            if (newest.isPresent() && newest.get().createdAt().isAfter(until)) {
                high = newest.get().token() - 1;
            } else {
                low = middle;
            }
            middle = low + (high - low + 1) / 2;
        }
        return low;
    }

    /** Reads the latest audit entries for a name, newest first. */
    public List<CapacityChange> capacityHistory(String name, int limit) {
        return history(CapacityHistory.OPERATORS, name, limit, CapacityAudit::toContract);
    }

    /** Reads the latest reclaims for a name, newest first. */
    public List<Reclaim> reclaims(String name, int limit) {
        return history(CapacityHistory.RECLAIMS, name, limit, CapacityAudit::toReclaim);
    }

    private <T> List<T> history(long kind, String name, int limit, Function<CapacityAudit, T> toContract) {
        return transaction.executeWithRepositories(
                () -> reports().findChanges(name, kind, kind + Long.MAX_VALUE, Limit.of(limit)).stream()
                        .map(toContract)
                        .toList());
    }

    /** Reads the registered instances, the last started first. */
    public List<InstanceStatus> instances(int limit) {
        return transaction.executeWithRepositories(() -> reports().findInstances(Limit.of(limit)).stream()
                .map(SemaphoreReports.Instance::toContract)
                .toList());
    }

    private <R, T> List<T> of(String name, LongFunction<List<R>> report, Function<R, T> toContract) {
        return transaction.executeWithRepositories(() -> {
            long id =
                    tables.semaphores().findId(name).orElseThrow(() -> SemaphoreNotFoundException.nothingChanged(name));
            return report.apply(id).stream().map(toContract).toList();
        });
    }
}
