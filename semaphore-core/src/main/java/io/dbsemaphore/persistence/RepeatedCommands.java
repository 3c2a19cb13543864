package io.dbsemaphore.persistence;

import io.dbsemaphore.RequestAlreadyReleasedException;
import io.dbsemaphore.RequestConflictException;
import io.dbsemaphore.RequestInProgressException;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.BatchOutcomes;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.persistence.PermitRequestRepository.Found;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Answers orders whose external id is in the database already: the same grant, or the reason why not. */
final class RepeatedCommands {

    private final PermitRequestRepository requests;
    private final GrantLookup lookup;

    RepeatedCommands(PermitRequestRepository requests, GrantLookup lookup) {
        this.requests = requests;
        this.lookup = lookup;
    }

    /** Settles those open orders whose request exists. Within the transaction of the grant. */
    void settle(BatchOutcomes outcomes) {
        Map<String, AcquireCommand> candidates = new TreeMap<>();
        outcomes.open().stream()
                .filter(AcquireCommand::mayExist)
                .forEach(command -> candidates.put(command.externalId(), command));
        if (candidates.isEmpty()) {
            return;
        }
        List<Found> found = requests.findByExternalIds(candidates.keySet()).stream()
                .sorted(Comparator.comparing(each -> each.request().id())) // as releases and renewals lock them
                .toList();
        for (Found each : found) {
            AcquireCommand command = candidates.get(each.request().externalId());
            if (command != null) {
                outcomes.settle(command, repeat(command, each));
            }
        }
    }

    private GrantOutcome repeat(AcquireCommand command, Found found) {
        PermitRequest request = found.request();
        if (!request.contentDigest().equals(command.contentDigest())) {
            return new GrantOutcome.Rejected(new RequestConflictException(command.externalId(), command.describe()));
        }
        if (!request.isAcquired()) {
            return released(command);
        }
        if (command.isOwn(request.id())) {
            return new GrantOutcome.Granted(lookup.complete(found), false);
        }
        if (!command.isReplayable()) {
            return new GrantOutcome.Rejected(new RequestInProgressException(command.externalId(), request.owner()));
        }
        if (!command.claim()) {
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
