package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.domain.TimeOrderedIds;
import io.dbsemaphore.persistence.PermitRequestRepository.Found;
import io.dbsemaphore.persistence.unit.ShortTransaction;
import java.util.List;

/**
 * Undoes an acquire of which nobody knows whether it was committed. If it was, it is released. If it was not, its
 * external id is taken by a request that holds nothing: as long as the lost transaction is still under way this insert
 * waits for it, and once it is done the lost one can never come to be. What was repeated under the same id in the meantime
 * belongs to whoever repeated it.
 */
public final class UndoTransaction {

    private final ShortTransaction transaction;
    private final PermitRequestRepository requests;
    private final ReleaseTransaction releases;
    private final TimeOrderedIds ids;

    UndoTransaction(
            ShortTransaction transaction,
            PermitRequestRepository requests,
            ReleaseTransaction releases,
            TimeOrderedIds ids) {
        this.transaction = transaction;
        this.requests = requests;
        this.releases = releases;
        this.ids = ids;
    }

    /** Afterwards no attempt of this order holds anything, or ever will; its repetition by somebody else may. */
    public void undo(AcquireState acquire) {
        AcquireCommand command = acquire.command();
        transaction.execute(() -> {
            List<Found> found = requests.findByExternalIds(List.of(command.externalId()));
            if (found.isEmpty()) {
                requests.insertAll(List.of(PermitRequest.undone(ids.next(), command, requests.now())));
            }
            found.stream()
                    .map(each -> each.request().id())
                    .filter(acquire::isOwnRequest) // somebody else's grant under this external id is not ours to end
                    .forEach(releases::releaseUnrepeatedWithin);
            return null;
        });
    }
}
