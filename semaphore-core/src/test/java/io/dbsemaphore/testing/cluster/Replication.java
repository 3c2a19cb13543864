package io.dbsemaphore.testing.cluster;

import io.dbsemaphore.testing.TestDatabase.Schema;

/** A primary and a server that follows it, with one empty database. */
public interface Replication extends AutoCloseable {

    /** The database on whichever of the servers is the primary; each connection finds out anew. */
    Schema schema();

    /** From now on the follower gets nothing, and a primary that does not wait for it does not notice. */
    void cutOff();

    /** Kills the primary by SIGKILL. */
    void killPrimary();

    /** Makes the follower the primary. */
    void promote();

    @Override
    void close();
}
