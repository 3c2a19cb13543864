package io.dbsemaphore.spi;

/**
 * Implemented by exceptions that fail the start because of the semaphores: they say what is wrong and what to do. The starter shows these
 * texts instead of a stack trace.
 */
public interface StartFailure {

    /**
     * Describes the failure.
     *
     * @return the problem, as a sentence
     */
    String description();

    /**
     * Tells what to do about it.
     *
     * @return the action, as a sentence or several
     */
    String action();
}
