package io.dbsemaphore.config;

import static io.dbsemaphore.config.Setting.atLeast;
import static io.dbsemaphore.config.Setting.atMost;

import java.time.Duration;

/** The settings of the maintenance, among the {@link SemaphoreSettings} of an engine. */
public final class MaintenanceSettings {

    private static final String PREFIX = "semaphore.maintenance.";
    private static final Setting.Check<Duration> INTERVAL =
            atLeast(Duration.ofMillis(1), "the task would run without a pause");
    private static final Setting.Check<Duration> RETENTION =
            atLeast(Duration.ofHours(1), "what is still needed would be deleted");

    /** Whether this instance runs the maintenance by schedule, by default true; an operator may call it all the same. */
    public static final Setting<Boolean> ENABLED = new Setting<>(PREFIX + "enabled", true);

    /** The pause between two releases of orphaned permits; by default 5 minutes, at least 1ms. */
    public static final Setting<Duration> ORPHAN_RELEASE_INTERVAL =
            new Setting<>(PREFIX + "orphan-release-interval", Duration.ofMinutes(5), INTERVAL);

    /** After how long a request without a TTL counts as orphaned; by default 24 hours, zero is never. */
    public static final Setting<Duration> STALE_AFTER =
            new Setting<>(PREFIX + "stale-after", Duration.ofHours(24), atLeast(Duration.ZERO, "for never use zero"));

    /** How long an owner must be found dead until its permits are released; by default 30s, zero is none. */
    public static final Setting<Duration> OWNER_GRACE =
            new Setting<>(PREFIX + "owner-grace", Duration.ofSeconds(30), atLeast(Duration.ZERO, "for none use zero"));

    /** The pause between two clean-ups of released requests; by default 4 hours, at least 1ms. */
    public static final Setting<Duration> REQUEST_CLEANUP_INTERVAL =
            new Setting<>(PREFIX + "request-cleanup-interval", Duration.ofHours(4), INTERVAL);

    /** How long a released request, and with it its external id, is remembered; by default 7 days, at least 1h. */
    public static final Setting<Duration> REQUEST_RETENTION =
            new Setting<>(PREFIX + "request-retention", Duration.ofDays(7), RETENTION);

    /** The pause between two clean-ups of the capacity history; by default 24 hours, at least 1ms. */
    public static final Setting<Duration> HISTORY_CLEANUP_INTERVAL =
            new Setting<>(PREFIX + "history-cleanup-interval", Duration.ofHours(24), INTERVAL);

    /** How long the capacity history is kept; by default 30 days, at least 1h. */
    public static final Setting<Duration> HISTORY_RETENTION =
            new Setting<>(PREFIX + "history-retention", Duration.ofDays(30), RETENTION);

    /** Time without an acquire after which a semaphore that a pattern created is deleted; by default 7 days, at least 1h. */
    public static final Setting<Duration> PATTERN_IDLE_AFTER =
            new Setting<>(PREFIX + "pattern-idle-after", Duration.ofDays(7), RETENTION);

    /** How many rows one transaction of the maintenance touches at most; by default 800, between 1 and 10000. */
    public static final Setting<Integer> BATCH_SIZE = new Setting<>(
            PREFIX + "batch-size",
            800,
            atLeast(1, "nothing would be maintained"),
            atMost(10_000, "callers would wait for the locks of the maintenance"));

    private MaintenanceSettings() {}
}
