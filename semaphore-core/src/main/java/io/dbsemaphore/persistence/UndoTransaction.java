package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.domain.PermitState;
import io.dbsemaphore.persistence.unit.ShortTransaction;
import java.util.List;

/**
 * Undoes an acquire whose commit has an unknown outcome. If it was committed, its request is released. Otherwise a request
 * that holds nothing is inserted with the same external id, so that the unique constraint rejects the lost request. While the
 * lost transaction is active, the undo waits for it: on InnoDB by a locking read before the insert, on other databases by the
 * insert. A grant that another caller has got under the same external id meanwhile is left alone.
 */
public record UndoTransaction(ShortTransaction transaction, Tables tables) {

    /**
     * Ensures that no attempt of this acquire holds permits, or ever will. Another caller's acquire with the same external id still may.
     *
     * @param keptAlive whether this JVM kept the unused grant alive; such renewals do not count as use
     */
    public void undo(AcquireState acquire, boolean keptAlive) {
        AcquireCommand command = acquire.command();
        PermitRequestTable requests = tables.requests();
        transaction.run(() -> {
            requests.queueLockOfExternalId(command.externalId());
            List<PermitRequest> found = requests.findByExternalIds(List.of(command.externalId()));
            if (found.isEmpty()) {
                requests.queueInsert(
                        List.of(new PermitRequest(tables.ids().next(), acquire, PermitState.RELEASED, requests.now())));
            }
            found.stream().map(PermitRequest::id).forEach(id -> undo(acquire, keptAlive, id));
        });
    }

    /** Undoes one request. A grant of another caller stays held, but is unbound, because this JVM does not keep it alive. */
    private void undo(AcquireState acquire, boolean keptAlive, long requestId) {
        Long instance = acquire.command().instance();
        if (acquire.isOwnRequest(requestId)) {
            if (tables.requests().releaseUnrepeated(requestId, keptAlive ? instance : null) == 1) {
                tables.permits().queueReleaseOf(List.of(requestId));
            }
        } else if (instance != null) {
            tables.requests().queueUnbinding(List.of(requestId), instance);
        }
    }
}
