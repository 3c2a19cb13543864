package io.dbsemaphore.persistence;

import io.dbsemaphore.persistence.instance.RegisteredInstances;
import io.dbsemaphore.persistence.unit.ShortTransaction;
import java.time.Duration;

/** Maintains the heartbeat of this JVM. */
public final class InstanceTransactions {

    private final ShortTransaction transaction;
    private final RegisteredInstances instances;

    InstanceTransactions(ShortTransaction transaction, RegisteredInstances instances) {
        this.transaction = transaction;
        this.instances = instances;
    }

    public void heartbeat(long id, String owner, Duration timeout) {
        transaction.run(() -> instances.heartbeat(id, owner, timeout));
    }

    public void remove(long id) {
        transaction.run(() -> instances.delete(id));
    }
}
