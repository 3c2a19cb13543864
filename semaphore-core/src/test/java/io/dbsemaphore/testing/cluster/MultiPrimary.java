package io.dbsemaphore.testing.cluster;

import io.dbsemaphore.testing.TestDatabase.Schema;
import java.sql.SQLException;

/** Servers that replicate to each other and are all written to, with one database that has the tables of the library. */
public interface MultiPrimary extends AutoCloseable {

    /** How many servers there are. */
    int size();

    /** The one database, as it is reached at this server. */
    Schema schema(int server);

    /** Waits until each server has applied what any has committed. */
    void awaitInSync();

    /** How many transactions the servers have ended since they were in the way of one that was committed before. */
    long conflicts();

    /**
     * Keeps a server from applying what the others commit from now on, until it is closed: its clients read what was there
     * before.
     */
    Brake holdBack(int server);

    @Override
    void close();

    /** Lets go when it is closed. */
    @FunctionalInterface
    interface Brake extends AutoCloseable {

        @Override
        void close() throws SQLException;
    }
}
