package io.dbsemaphore.testing;

import io.dbsemaphore.config.SemaphoreSettings;

/**
 * The default settings of an engine under test. The system property {@value #MAX_BATCH_SIZE} set to 1 runs all tests with one
 * caller per transaction: the promises are the same.
 */
public final class TestSettings {

    /** The system property that says how many acquires one transaction of an engine under test decides at most. */
    public static final String MAX_BATCH_SIZE = "semaphore.test.max-batch-size";

    private TestSettings() {}

    /** How many acquires one transaction of an engine under test decides at most. */
    public static int maxBatchSize() {
        return Integer.getInteger(MAX_BATCH_SIZE, SemaphoreSettings.defaults().get(SemaphoreSettings.MAX_BATCH_SIZE));
    }

    /** The defaults. */
    public static SemaphoreSettings defaults() {
        return SemaphoreSettings.defaults().with(SemaphoreSettings.MAX_BATCH_SIZE, maxBatchSize());
    }
}
