package io.dbsemaphore.tools.benchmark.approach;

import java.util.List;

/** One approach in this JVM, used by all threads of a round. Semaphores are numbered. */
public interface Limiter extends AutoCloseable {

    /** Creates this semaphore; called once for all JVMs. */
    default void prepare(long semaphore, int capacity) throws Exception {}

    /**
     * Acquires one permit of each of these semaphores, and waits for it if none is free.
     *
     * @param semaphores ascending
     */
    Held acquire(List<Long> semaphores) throws Exception;

    @Override
    default void close() throws Exception {}

    /** What was acquired. Released once, by the thread that acquired it. */
    @FunctionalInterface
    interface Held {

        /** Releases it. */
        void release() throws Exception;
    }
}
