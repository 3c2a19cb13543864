package io.dbsemaphore.testing;

import io.dbsemaphore.engine.SemaphoreSettings;

/**
 * The default settings of an engine under test. The system property {@value #GATHERING} set to {@code false} runs all tests
 * without gathering: they promise the same.
 */
public final class TestSettings {

    /** The system property that says whether engines gather. */
    public static final String GATHERING = "semaphore.test.gathering";

    private TestSettings() {}

    /** Whether the engines under test gather. */
    public static boolean isGathering() {
        return !"false".equals(System.getProperty(GATHERING));
    }

    /** The defaults. */
    public static SemaphoreSettings defaults() {
        SemaphoreSettings defaults = SemaphoreSettings.defaults();
        return new SemaphoreSettings(
                defaults.owner(),
                defaults.tablePrefix(),
                defaults.defaultTtl(),
                defaults.maxTtl(),
                defaults.maxHold(),
                defaults.keepAliveInterval(),
                defaults.instanceTimeout(),
                defaults.shutdownTimeout(),
                defaults.lockWaitTimeout(),
                defaults.sessionIdleLimit(),
                defaults.maxAttempts(),
                defaults.maxNamesPerRequest(),
                isGathering(),
                defaults.maxConnections());
    }
}
