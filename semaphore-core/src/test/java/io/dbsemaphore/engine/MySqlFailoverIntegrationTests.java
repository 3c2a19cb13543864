package io.dbsemaphore.engine;

import io.dbsemaphore.testing.MySqlReplication;
import io.dbsemaphore.testing.Replication;
import io.dbsemaphore.testing.Slow;

/** Behind HAProxy, with a semi-synchronous replica and an asynchronous one. */
@Slow
class MySqlFailoverIntegrationTests extends ReplicaFailover {

    @Override
    Replication start(boolean synchronous) {
        return MySqlReplication.start(synchronous);
    }
}
