package io.dbsemaphore.spi;

/**
 * Implemented by exceptions of a start that fails for the semaphores: they tell people what is wrong and what to do. The starter shows
 * that instead of a stack trace.
 */
public interface StartFailure {

    /**
     * Describes the failure.
     *
     * @return what is wrong, as a sentence
     */
    String description();

    /**
     * Tells what to do about it.
     *
     * @return the action, as a sentence or several
     */
    String action();
}
