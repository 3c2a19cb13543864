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
import io.dbsemaphore.persistence.audit.CapacityHistory;
import io.dbsemaphore.persistence.unit.ShortTransaction;
import io.dbsemaphore.persistence.unit.StartStatements;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongFunction;
import java.util.stream.Collectors;
import org.springframework.data.domain.Limit;

/** The reports of the administration, each in a transaction of its own, without locks. */
public final class ReportTransactions {

    private final ShortTransaction transaction;
    private final SemaphoreRepository semaphores;
    private final PermitRequestRepository requests;
    private final SemaphoreReports reports;
    private final StartStatements statuses;
    private final CapacityHistory history;
    private final PermitUses uses;

    ReportTransactions(
            ShortTransaction transaction,
            SemaphoreRepository semaphores,
            PermitRequestRepository requests,
            SemaphoreReports reports,
            StartStatements statuses,
            CapacityHistory history) {
        this.transaction = transaction;
        this.semaphores = semaphores;
        this.requests = requests;
        this.reports = reports;
        this.statuses = statuses;
        this.history = history;
        this.uses = new PermitUses(reports);
    }

    /** The database's clock. */
    public Instant now() {
        return StoredGrant.instant(transaction.execute(requests::now));
    }

    public Optional<SemaphoreStatus> find(String name) {
        return transaction.execute(() -> statuses.findStatus(name));
    }

    /** The status of all semaphores, sorted by name. */
    public List<SemaphoreStatus> list() {
        return transaction.execute(statuses::findStatuses);
    }

    /** The holders of a semaphore's permits, by token. */
    public List<PermitHolder> holders(String name) {
        return of(
                name,
                id -> reports.findHolders(id).stream()
                        .map(SemaphoreReports.Holder::toContract)
                        .toList());
    }

    /** The holders above a token whose owner or external id contains a text, by token. */
    public List<PermitHolder> holders(String name, String containing, long afterToken, int limit) {
        return of(
                name,
                id -> reports.findHolders(id, containing, afterToken, Limit.of(limit)).stream()
                        .map(SemaphoreReports.Holder::toContract)
                        .toList());
    }

    /** The waiting callers of all instances, by instance, the one that has waited longest first. */
    public List<WaitingInstance> waiting(String name) {
        return of(
                name,
                id -> reports.findWaiting(id).stream()
                        .map(SemaphoreReports.Waiting::toContract)
                        .toList());
    }

    /** The requests that held permits within a period, the last acquired first. */
    public List<PermitUse> uses(String name, Instant from, Instant to, int limit) {
        return of(name, id -> uses.find(id, from, to, limit));
    }

    /** The audit of a name, newest first. */
    public List<CapacityChange> capacityHistory(String name) {
        return transaction.execute(() -> history.find(name, Limit.unlimited()));
    }

    /** The latest entries of the audit of a name, newest first. */
    public List<CapacityChange> capacityHistory(String name, int limit) {
        return transaction.execute(() -> history.find(name, Limit.of(limit)));
    }

    /** The latest reclaims of a name, newest first. */
    public List<Reclaim> reclaims(String name, int limit) {
        return transaction.execute(() -> history.findReclaims(name, Limit.of(limit)));
    }

    /** The registered instances, the last started first. */
    public List<InstanceStatus> instances(int limit) {
        return transaction.execute(() -> {
            Map<Long, Long> held = reports.countRequestsOfInstances().stream()
                    .collect(Collectors.toMap(
                            SemaphoreReports.RequestsOf::instance, SemaphoreReports.RequestsOf::requests));
            return reports.findInstances(Limit.of(limit)).stream()
                    .map(instance -> instance.toContract(held.getOrDefault(instance.id(), 0L)))
                    .toList();
        });
    }

    private <T> List<T> of(String name, LongFunction<List<T>> report) {
        return transaction.execute(() -> report.apply(semaphores.findIds(List.of(name)).stream()
                .findFirst()
                .orElseThrow(() -> SemaphoreNotFoundException.nothingChanged(name))
                .id()));
    }
}
