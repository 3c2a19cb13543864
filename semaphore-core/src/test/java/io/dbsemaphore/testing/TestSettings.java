package io.dbsemaphore.testing;

import io.dbsemaphore.config.SemaphoreSettings;
import java.time.Duration;

/**
 * The default settings of an engine under test. The system property {@value #MAX_BATCH_SIZE} set to 1 runs all tests with one
 * caller per transaction, {@value #PIPELINING} set to false with one statement per round trip, {@value
 * #LIMITED_ROWS} set to true with pools that cut results to one row: the promises are the same.
 */
public final class TestSettings {

    /** The system property that says how many acquires one transaction of an engine under test decides at most. */
    public static final String MAX_BATCH_SIZE = "semaphore.test.max-batch-size";

    /** The system property that says whether engines under test send several statements at once where the driver can. */
    public static final String PIPELINING = "semaphore.test.pipelining";

    /** The system property that says whether engines under test notify one another of releases. */
    public static final String NOTIFICATIONS = "semaphore.test.notifications";

    /** The system property that says whether the pools and statements of nodes limit results to one row. */
    public static final String LIMITED_ROWS = "semaphore.test.limited-rows";

    /** The system property that says from which round trip on engines under test try to grant in one. */
    public static final String ONE_TRIP_FROM = "semaphore.test.one-trip-from";

    private TestSettings() {}

    /** From which round trip on engines under test try to grant in one: by default never, so that trips can be counted. */
    public static Duration oneTripFrom() {
        return Duration.parse(System.getProperty(ONE_TRIP_FROM, "PT1H"));
    }

    /** How many acquires one transaction of an engine under test decides at most. */
    public static int maxBatchSize() {
        return Integer.getInteger(MAX_BATCH_SIZE, SemaphoreSettings.defaults().get(SemaphoreSettings.MAX_BATCH_SIZE));
    }

    /** Whether engines under test send several statements at once where the driver can. */
    public static boolean pipelining() {
        return Boolean.parseBoolean(System.getProperty(PIPELINING, "true"));
    }

    /** Whether the pools and statements of the nodes under test limit results to one row. */
    public static boolean limitsRows() {
        return Boolean.getBoolean(LIMITED_ROWS);
    }

    /** The defaults. */
    public static SemaphoreSettings defaults() {
        return SemaphoreSettings.defaults()
                .with(SemaphoreSettings.MAX_BATCH_SIZE, maxBatchSize())
                .with(SemaphoreSettings.PIPELINING, pipelining())
                .with(SemaphoreSettings.ONE_TRIP_FROM, oneTripFrom())
                .with(SemaphoreSettings.NOTIFICATIONS, Boolean.getBoolean(NOTIFICATIONS));
    }

    /** The defaults, but for these; the decision timeout stays. */
    public static SemaphoreSettings limits(int lockWaitSeconds, int idleLimitSeconds, int maxAttempts) {
        SemaphoreSettings defaults = defaults();
        return defaults.with(SemaphoreSettings.LOCK_WAIT_TIMEOUT, Duration.ofSeconds(lockWaitSeconds))
                .with(SemaphoreSettings.SESSION_IDLE_LIMIT, Duration.ofSeconds(idleLimitSeconds))
                .with(SemaphoreSettings.MAX_ATTEMPTS, maxAttempts)
                .with(SemaphoreSettings.DECISION_TIMEOUT, defaults.get(SemaphoreSettings.DECISION_TIMEOUT));
    }

    /** The defaults with this timeout of heartbeats, and a short shutdown. */
    public static SemaphoreSettings instanceTimeout(Duration instanceTimeout) {
        return instanceTimeout(instanceTimeout, Duration.ofSeconds(1));
    }

    /** The defaults with these timeouts. */
    public static SemaphoreSettings instanceTimeout(Duration instanceTimeout, Duration shutdownTimeout) {
        return defaults()
                .with(SemaphoreSettings.INSTANCE_TIMEOUT, instanceTimeout)
                .with(SemaphoreSettings.SHUTDOWN_TIMEOUT, shutdownTimeout);
    }
}
