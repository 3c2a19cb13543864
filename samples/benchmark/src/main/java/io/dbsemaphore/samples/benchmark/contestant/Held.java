package io.dbsemaphore.samples.benchmark.contestant;

/** What was acquired; released once, by the thread that acquired it. */
@FunctionalInterface
public interface Held {

    /** Gives it back. */
    void release() throws Exception;
}
