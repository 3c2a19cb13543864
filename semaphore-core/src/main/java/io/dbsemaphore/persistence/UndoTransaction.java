package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.persistence.unit.ShortTransaction;
import java.util.List;

/**
 * Undoes an acquire whose commit has an unknown outcome. If it was committed, its request is released. Otherwise a request
 * that holds nothing is inserted with the same external id: the unique constraint then rejects the lost request. While the
 * lost transaction is still active, the locking read before waits for it on InnoDB, and the insert on other databases. A grant
 * that another caller has made under the same external id in the meantime is left alone.
 */
public final class UndoTransaction {

    private final ShortTransaction transaction;
    private final Tables tables;
    private final PermitRequestTable requests;

    UndoTransaction(ShortTransaction transaction, Tables tables) {
        this.transaction = transaction;
        this.tables = tables;
        this.requests = tables.requests();
    }

    /**
     * Ensures that no attempt of this acquire holds permits, or ever will; another caller's acquire with the same external
     * id may.
     */
    public void undo(AcquireState acquire) {
        AcquireCommand command = acquire.command();
        transaction.run(() -> {
            requests.queueLockOfExternalId(command.externalId());
            List<PermitRequest> found = requests.findByExternalIds(List.of(command.externalId()));
            if (found.isEmpty()) {
                requests.queueInsert(List.of(PermitRequest.undone(tables.ids().next(), command, requests.now())));
            }
            found.stream().map(PermitRequest::id).forEach(id -> undo(acquire, id));
        });
    }

    /** A grant of another caller under this external id stays held, but is no longer bound to this JVM, which does not keep it alive. */
    private void undo(AcquireState acquire, long requestId) {
        Long instance = acquire.command().instance();
        if (acquire.isOwnRequest(requestId)) {
            if (requests.releaseUnrepeated(requestId) == 1) {
                tables.permits().queueReleaseOf(List.of(requestId));
            }
        } else if (instance != null) {
            requests.queueUnbinding(List.of(requestId), instance);
        }
    }
}
