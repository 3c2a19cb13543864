package io.dbsemaphore.persistence;

import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.admin.InstanceStatus;
import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.admin.SemaphoreAdmin.PermitUse;
import io.dbsemaphore.admin.SemaphoreAdmin.Reclaim;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.admin.SemaphoreStatus.WaitingInstance;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.persistence.unit.ShortTransaction;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.stream.Stream;
import org.springframework.data.domain.Limit;

/** The reports of the administration, each in a transaction of its own, without locks. */
public final class ReportTransactions {

    /**
     * How many released permits a search for past uses scans at most, or as many as are asked for. A longer scan would find only requests
     * that were held for a long time.
     */
    private static final int SCANNED = 2_000;

    /** A period that contains all times. */
    private static final LocalDateTime BEGIN = LocalDateTime.of(2000, 1, 1, 0, 0);

    private static final LocalDateTime END = LocalDateTime.of(9999, 1, 1, 0, 0);

    private final ShortTransaction transaction;
    private final Tables tables;
    private final SemaphoreTable semaphores;

    ReportTransactions(ShortTransaction transaction, Tables tables) {
        this.transaction = transaction;
        this.tables = tables;
        this.semaphores = tables.semaphores();
    }

    private SemaphoreReports reports() {
        return tables.reports().get();
    }

    /** The database's clock. */
    public Instant now() {
        return StoredGrant.instant(transaction.execute(tables.requests()::now));
    }

    public Optional<SemaphoreStatus> find(String name) {
        return transaction.execute(() -> semaphores.findStatus(name));
    }

    /** The status of all semaphores, sorted by name. */
    public List<SemaphoreStatus> list() {
        return transaction.execute(semaphores::findStatuses);
    }

    /** The holders above a token whose owner or external id contains a text, by token. */
    public List<PermitHolder> holders(String name, String containing, long afterToken, int limit) {
        return of(
                name,
                id -> reports().findHolders(id, containing, afterToken, Limit.of(limit)),
                SemaphoreReports.Holder::toContract);
    }

    /** The holders that have held permits of a semaphore for longest. Needs no Hibernate. */
    public List<String> firstHolders(String name, int limit) {
        return transaction.execute(() -> tables.permits().findFirstHolders(name, limit));
    }

    /** The waiting callers of all instances, by instance, the one that has waited longest first. */
    public List<WaitingInstance> waiting(String name) {
        return of(name, id -> reports().findWaiting(id), SemaphoreWaiter::toContract);
    }

    /**
     * The requests that held permits within a period, the last acquired first. No index has the times of requests: this would cost
     * each acquire and release. But the tokens of a semaphore grow with time, so that the end of the period is found by a binary
     * search over tokens, and the requests before it by a scan of limited length.
     */
    public List<PermitUse> uses(String name, Instant from, Instant to, int limit) {
        return of(
                name,
                id -> uses(id, StoredGrant.utc(from), StoredGrant.utc(to), limit),
                SemaphoreReports.Use::toContract);
    }

    private List<SemaphoreReports.Use> uses(long semaphoreId, LocalDateTime from, LocalDateTime to, int limit) {
        Stream<SemaphoreReports.Use> held = reports().findUses(semaphoreId, to, Limit.of(limit)).stream();
        Stream<SemaphoreReports.Use> released = reports()
                .findUses(semaphoreId, lastToken(semaphoreId, to), from, to, Math.max(SCANNED, limit), Limit.of(limit))
                .stream();
        return Stream.concat(held, released)
                .sorted(Comparator.comparingLong(SemaphoreReports.Use::token).reversed())
                .limit(limit)
                .toList();
    }

    /** The highest token among the released permits that were acquired until then; 0 if there is none. */
    private long lastToken(long semaphoreId, LocalDateTime until) {
        long low = 0;
        long high = Long.MAX_VALUE;
        long middle = high;
        while (low < high) {
            Optional<SemaphoreReports.Use> newest =
                    reports().findUses(semaphoreId, middle, BEGIN, END, 1, Limit.of(1)).stream()
                            .findFirst();
            if (newest.isPresent() && newest.get().isAfter(until)) {
                high = newest.get().token() - 1;
            } else {
                low = middle;
            }
            middle = low + (high - low + 1) / 2;
        }
        return low;
    }

    /** The latest entries of the audit of a name, newest first. */
    public List<CapacityChange> capacityHistory(String name, int limit) {
        return history(CapacityHistory.OPERATORS, name, limit, CapacityAudit::toContract);
    }

    /** The latest reclaims of a name, newest first. */
    public List<Reclaim> reclaims(String name, int limit) {
        return history(CapacityHistory.RECLAIMS, name, limit, CapacityAudit::toReclaim);
    }

    private <T> List<T> history(long kind, String name, int limit, Function<CapacityAudit, T> toContract) {
        return transaction.executeWithRepositories(
                () -> reports().findChanges(name, kind, kind + Long.MAX_VALUE, Limit.of(limit)).stream()
                        .map(toContract)
                        .toList());
    }

    /** The registered instances, the last started first. */
    public List<InstanceStatus> instances(int limit) {
        return transaction.executeWithRepositories(() -> reports().findInstances(Limit.of(limit)).stream()
                .map(SemaphoreReports.Instance::toContract)
                .toList());
    }

    private <R, T> List<T> of(String name, LongFunction<List<R>> report, Function<R, T> toContract) {
        return transaction.executeWithRepositories(() -> {
            long id = semaphores.findId(name).orElseThrow(() -> SemaphoreNotFoundException.nothingChanged(name));
            return report.apply(id).stream().map(toContract).toList();
        });
    }
}
