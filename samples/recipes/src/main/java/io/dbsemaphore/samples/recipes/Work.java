package io.dbsemaphore.samples.recipes;

/** What a recipe limits. An application has a service of its own in its place. */
@FunctionalInterface
public interface Work {

    /**
     * Does the work.
     *
     * @param item what to work on
     */
    void run(String item);
}
