package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import io.dbsemaphore.persistence.unit.Sql;
import io.dbsemaphore.persistence.unit.TimeOrderedIds;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.Supplier;

/** The tables of the library. Each has a class for its SQL; rare statements are in Spring Data repositories. */
record Tables(
        Sql sql,
        SemaphoreTable semaphores,
        PermitRequestTable requests,
        PermitTable permits,
        WaiterTable waiters,
        ShareTable shares,
        InstanceTable instances,
        CapacityHistory history,
        Supplier<SemaphoreReports> reports,
        Supplier<MaintenanceRepository> maintenance,
        TimeOrderedIds ids) {

    /** Finds the held grant with this external id. */
    Optional<StoredGrant> findGrant(String externalId) {
        return requests.findByExternalIds(List.of(externalId)).stream()
                .filter(PermitRequest::isAcquired)
                .findFirst()
                .map(this::grantOf);
    }

    StoredGrant grantOf(long requestId) {
        return grantOf(requests.findByIds(List.of(requestId)).get(0));
    }

    StoredGrant grantOf(PermitRequest request) {
        List<StoredPermit> held = permits.findByRequests(List.of(request.id())).stream()
                .map(permit -> new StoredPermit(
                        permit.id(), permit.semaphoreId(), permit.name(), permit.count(), permit.token()))
                .toList();
        return request.toGrant(held);
    }

    /** Queues the release of a request, which waits for locked permits. The result is 1, or 0 if it was released before. */
    Supplier<Integer> queueRelease(long requestId) {
        permits.queueReleaseOf(List.of(requestId));
        return requests.queueRelease(List.of(requestId));
    }

    /**
     * Queues the release of requests. The result is the number of their permits.
     *
     * @param permitIds the ids of the permits of each request, by its id. This transaction has locked the permits, or queued the lock
     */
    Supplier<Integer> queueRelease(SortedMap<Long, List<Long>> permitIds) {
        if (!permitIds.isEmpty()) {
            requests.queueRelease(permitIds.keySet());
        }
        return permits.queueRelease(PermitTable.idsOf(permitIds));
    }
}
