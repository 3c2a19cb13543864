package io.dbsemaphore.persistence;

import io.dbsemaphore.RequestAlreadyReleasedException;
import io.dbsemaphore.RequestConflictException;
import io.dbsemaphore.RequestInProgressException;
import io.dbsemaphore.persistence.PermitRequestRepository.Found;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Answers orders whose external id is in the database already: the same grant, or the reason why not. */
final class RepeatedOrders {

    private final PermitRequestRepository requests;
    private final GrantLookup lookup;

    RepeatedOrders(PermitRequestRepository requests, GrantLookup lookup) {
        this.requests = requests;
        this.lookup = lookup;
    }

    /** Settles those open orders whose request exists. Within the transaction of the grant. */
    void settle(GrantBatch batch) {
        Map<String, GrantOrder> candidates = new TreeMap<>();
        batch.open().stream().filter(GrantOrder::mayExist).forEach(order -> candidates.put(order.externalId(), order));
        if (candidates.isEmpty()) {
            return;
        }
        List<Found> found = requests.findByExternalIds(candidates.keySet()).stream()
                .sorted(Comparator.comparing(each -> each.request().id())) // as releases and renewals lock them
                .toList();
        for (Found each : found) {
            GrantOrder order = candidates.get(each.request().externalId());
            if (order != null) {
                batch.settle(order, repeat(order, each));
            }
        }
    }

    private GrantOutcome repeat(GrantOrder order, Found found) {
        PermitRequest request = found.request();
        if (!request.contentDigest().equals(order.contentDigest())) {
            return new GrantOutcome.Rejected(new RequestConflictException(order.externalId(), order.describe()));
        }
        if (!request.isAcquired()) {
            return released(order);
        }
        if (order.isOwn(request.id())) {
            return new GrantOutcome.Granted(lookup.complete(found), false);
        }
        if (!order.isReplayable()) {
            return new GrantOutcome.Rejected(new RequestInProgressException(order.externalId(), request.owner()));
        }
        if (!order.claim()) {
            return new GrantOutcome.Withdrawn();
        }
        return replay(order, request.id()) ? replayed(request.id()) : released(order);
    }

    private boolean replay(GrantOrder order, long requestId) {
        return (order.ttl() == null
                        ? requests.replayWithoutTtl(requestId)
                        : requests.replay(requestId, order.ttl().toMillis(), order.instance()))
                == 1;
    }

    private GrantOutcome replayed(long requestId) {
        return new GrantOutcome.Granted(lookup.reload(requestId), true);
    }

    private static GrantOutcome released(GrantOrder order) {
        return new GrantOutcome.Rejected(new RequestAlreadyReleasedException(order.externalId()));
    }
}
