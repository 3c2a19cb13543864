package io.dbsemaphore.engine.cluster;

import io.dbsemaphore.testing.Clustered;
import io.dbsemaphore.testing.cluster.MySqlReplication;
import io.dbsemaphore.testing.cluster.Replication;
import io.dbsemaphore.testing.rerun.Promise;

/** Behind HAProxy, with a semi-synchronous replica and an asynchronous one. */
@Clustered
@Promise
class MySqlFailoverIntegrationTests extends ReplicaFailover {

    @Override
    Replication start(boolean synchronous) {
        return MySqlReplication.start(synchronous);
    }
}
