package io.dbsemaphore.persistence;

import io.dbsemaphore.persistence.unit.ShortTransaction;
import java.time.Duration;

/** Maintains the heartbeat of this JVM. */
public final class InstanceTransactions {

    private final ShortTransaction transaction;
    private final InstanceRepository instances;

    InstanceTransactions(ShortTransaction transaction, InstanceRepository instances) {
        this.transaction = transaction;
        this.instances = instances;
    }

    /** Extends the lease of the instance by the timeout; registers the instance if it is unknown. */
    public void heartbeat(long id, String owner, Duration timeout) {
        transaction.execute(() -> {
            if (instances.heartbeat(id, timeout.toMillis()) == 0) {
                instances.insert(id, owner, timeout.toMillis());
            }
            return null;
        });
    }

    /** Deregisters the instance. */
    public void remove(long id) {
        transaction.execute(() -> instances.delete(id));
    }
}
