package io.dbsemaphore.samples.benchmark.contestant;

import java.util.List;

/** One approach at work in this JVM; used by all threads of a round. Semaphores have numbers. */
public interface Contestant extends AutoCloseable {

    /** Makes this semaphore; once, for all JVMs. */
    void prepare(long semaphore, int capacity) throws Exception;

    /**
     * Acquires one permit of each of these, waiting where the approach waits.
     *
     * @param semaphores ascending
     */
    Held acquire(List<Long> semaphores) throws Exception;

    /** How many connections of the pool are in use just now. */
    int connectionsInUse();

    @Override
    void close();
}
