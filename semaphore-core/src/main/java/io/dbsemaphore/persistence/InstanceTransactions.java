package io.dbsemaphore.persistence;

import io.dbsemaphore.persistence.unit.ShortTransaction;
import java.time.Duration;

/** The heartbeat of this JVM. */
public final class InstanceTransactions {

    private final ShortTransaction transaction;
    private final InstanceRepository instances;

    InstanceTransactions(ShortTransaction transaction, InstanceRepository instances) {
        this.transaction = transaction;
        this.instances = instances;
    }

    /** Says that the instance lives, for at least as long as the timeout; registers it where it is not known. */
    public void heartbeat(long id, String owner, Duration timeout) {
        transaction.execute(() -> {
            if (instances.heartbeat(id, timeout.toMillis()) == 0) {
                instances.insert(id, owner, timeout.toMillis());
            }
            return null;
        });
    }

    /** Says goodbye. */
    public void remove(long id) {
        transaction.execute(() -> instances.delete(id));
    }
}
