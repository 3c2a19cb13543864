package io.dbsemaphore;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The future of {@link SemaphoreOperations#acquireAsync}, which also says where its caller stands while it waits. */
public class AcquireFuture extends CompletableFuture<PermitGrant> implements QueuePosition.Source {

    /** Creates an incomplete future of a caller that does not wait, for other implementations of {@link SemaphoreOperations}. */
    public AcquireFuture() {}

    @Override
    public List<QueuePosition> positions() {
        return List.of();
    }
}
