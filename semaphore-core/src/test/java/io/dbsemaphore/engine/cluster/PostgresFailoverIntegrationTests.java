package io.dbsemaphore.engine.cluster;

import io.dbsemaphore.testing.Clustered;
import io.dbsemaphore.testing.cluster.PostgresReplication;
import io.dbsemaphore.testing.cluster.Replication;

/** With a synchronous standby and an asynchronous one. */
@Clustered
class PostgresFailoverIntegrationTests extends ReplicaFailover {

    @Override
    Replication start(boolean synchronous) {
        return PostgresReplication.start(synchronous);
    }
}
