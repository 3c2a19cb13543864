package io.dbsemaphore.engine.cluster;

import io.dbsemaphore.testing.Clustered;
import io.dbsemaphore.testing.cluster.PostgresReplication;
import io.dbsemaphore.testing.cluster.Replication;
import io.dbsemaphore.testing.rerun.Promise;

/** With a synchronous standby and an asynchronous one. */
@Clustered
@Promise
class PostgresFailoverIntegrationTests extends ReplicaFailover {

    @Override
    Replication start(boolean synchronous) {
        return PostgresReplication.start(synchronous);
    }
}
