package io.dbsemaphore.engine;

import io.dbsemaphore.testing.PostgresReplication;
import io.dbsemaphore.testing.Replication;

/** With a synchronous standby and an asynchronous one. */
class PostgresFailoverIntegrationTests extends ReplicaFailover {

    @Override
    Replication start(boolean synchronous) {
        return PostgresReplication.start(synchronous);
    }
}
