package io.dbsemaphore.config;

import java.time.Duration;

/**
 * How the maintenance works.
 *
 * @param enabled whether this instance runs it by schedule; an operator may call it all the same
 * @param orphanReleaseInterval from one release of orphans to the next
 * @param staleAfter after how long a request without a time to live counts as orphaned; zero is never
 * @param ownerGrace how long an owner must be found dead before its permits are released
 * @param requestCleanupInterval from one clean-up of released requests to the next
 * @param requestRetention how long a released request, and with it its external id, is remembered
 * @param historyCleanupInterval from one clean-up of the audit to the next
 * @param historyRetention how long the audit is kept
 * @param patternIdleAfter after how long a semaphore that a pattern made, and that nobody acquires, is removed
 * @param batchSize how many rows one transaction touches at most
 */
public record MaintenanceSettings(
        boolean enabled,
        Duration orphanReleaseInterval,
        Duration staleAfter,
        Duration ownerGrace,
        Duration requestCleanupInterval,
        Duration requestRetention,
        Duration historyCleanupInterval,
        Duration historyRetention,
        Duration patternIdleAfter,
        int batchSize) {

    /** Checks the values. */
    public MaintenanceSettings {
        positive("orphan-release-interval", orphanReleaseInterval);
        require(!staleAfter.isNegative(), "stale-after", staleAfter, "zero (never) or positive");
        require(!ownerGrace.isNegative(), "owner-grace", ownerGrace, "zero or positive");
        positive("request-cleanup-interval", requestCleanupInterval);
        atLeastAnHour("request-retention", requestRetention);
        positive("history-cleanup-interval", historyCleanupInterval);
        atLeastAnHour("history-retention", historyRetention);
        atLeastAnHour("pattern-idle-after", patternIdleAfter);
        require(batchSize >= 1 && batchSize <= 10_000, "batch-size", batchSize, "between 1 and 10000");
    }

    /** The defaults. */
    public static MaintenanceSettings defaults() {
        return new MaintenanceSettings(
                true,
                Duration.ofMinutes(5),
                Duration.ofHours(24),
                Duration.ofSeconds(30),
                Duration.ofHours(4),
                Duration.ofDays(7),
                Duration.ofHours(24),
                Duration.ofDays(30),
                Duration.ofDays(7),
                800);
    }

    private static void positive(String property, Duration value) {
        require(value.compareTo(Duration.ofMillis(1)) >= 0, property, value, "positive, at least 1ms");
    }

    private static void atLeastAnHour(String property, Duration value) {
        require(value.compareTo(Duration.ofHours(1)) >= 0, property, value, "at least an hour");
    }

    private static void require(boolean valid, String property, Object value, String bound) {
        if (!valid) {
            throw new IllegalArgumentException(
                    "semaphore.maintenance.%s must be %s: %s".formatted(property, bound, value));
        }
    }
}
