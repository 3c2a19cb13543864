package io.dbsemaphore.persistence;

import io.dbsemaphore.RequestAlreadyReleasedException;
import io.dbsemaphore.RequestConflictException;
import io.dbsemaphore.RequestInProgressException;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.domain.BatchOutcomes;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.persistence.PermitRequestRepository.Found;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Settles acquires whose external id is already in the database: with the same grant, or with the reason for a rejection.
 */
final class RepeatedCommands {

    private final PermitRequestRepository requests;
    private final GrantLookup lookup;

    RepeatedCommands(PermitRequestRepository requests, GrantLookup lookup) {
        this.requests = requests;
        this.lookup = lookup;
    }

    /** Settles the open acquires whose request exists, within the grant transaction. */
    void settle(BatchOutcomes outcomes) {
        Map<String, AcquireState> candidates = new TreeMap<>();
        outcomes.open().stream()
                .filter(AcquireState::mayExist)
                .forEach(acquire -> candidates.put(acquire.command().externalId(), acquire));
        if (candidates.isEmpty()) {
            return;
        }
        requests.sendQueued(); // a piggy-backed release whose lock is refused is repeated in this transaction
        List<Found> found = requests.findByExternalIds(candidates.keySet()).stream()
                .sorted(Comparator.comparing(
                        each -> each.request().id())) // the order in which releases and renewals lock
                .toList();
        for (Found each : found) {
            AcquireState acquire = candidates.get(each.request().externalId());
            if (acquire != null) {
                outcomes.settle(acquire, repeat(acquire, each));
            }
        }
    }

    private GrantOutcome repeat(AcquireState acquire, Found found) {
        AcquireCommand command = acquire.command();
        PermitRequest request = found.request();
        if (!request.contentDigest().equals(command.contentDigest())) {
            return new GrantOutcome.Rejected(new RequestConflictException(command.externalId(), command.describe()));
        }
        if (!request.isAcquired()) {
            return released(command);
        }
        if (acquire.isOwnRequest(request.id())) {
            return new GrantOutcome.Granted(lookup.complete(found), false);
        }
        if (!command.replayable()) {
            return new GrantOutcome.Rejected(new RequestInProgressException(command.externalId(), request.owner()));
        }
        if (!acquire.claim()) {
            return new GrantOutcome.Withdrawn();
        }
        return replay(command, request.id()) ? replayed(request.id()) : released(command);
    }

    private boolean replay(AcquireCommand command, long requestId) {
        return (command.ttl() == null
                        ? requests.replayWithoutTtl(requestId)
                        : requests.replay(requestId, command.ttl().toMillis(), command.instance()))
                == 1;
    }

    private GrantOutcome replayed(long requestId) {
        return new GrantOutcome.Granted(lookup.reload(requestId), true);
    }

    private static GrantOutcome released(AcquireCommand command) {
        return new GrantOutcome.Rejected(new RequestAlreadyReleasedException(command.externalId()));
    }
}
