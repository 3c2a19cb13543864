package io.dbsemaphore.config;

import static io.dbsemaphore.config.Setting.atLeast;
import static io.dbsemaphore.config.Setting.atMost;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

/** The {@link SemaphoreSettings} that concern the maintenance. */
public final class MaintenanceSettings {

    private static final String PREFIX = "semaphore.maintenance.";
    static final List<Setting<?>> ALL = new ArrayList<>();

    private static final BiConsumer<String, Duration> INTERVAL = atLeast(
                    Duration.ofMillis(1), "the task would run without a pause")
            .andThen(atMost(Duration.ofDays(36_500), "the clock of this JVM cannot count it"));
    private static final BiConsumer<String, Duration> RETENTION =
            atLeast(Duration.ofHours(1), "records that are still needed would be deleted");

    /** Lets this instance run the maintenance on schedule; by default true. An operator may run it in any case. */
    public static final Setting<Boolean> ENABLED = Setting.of(ALL, PREFIX + "enabled", true);

    /** The pause between two releases of expired and orphaned permits; by default 5 minutes, between 1ms and 36500 days. */
    public static final Setting<Duration> ORPHAN_RELEASE_INTERVAL = Setting.of(
                    ALL, PREFIX + "orphan-release-interval", Duration.ofMinutes(5))
            .where(INTERVAL);

    /** The time without a renewal after which a request without a TTL is released; by default 24 hours. Zero means never. */
    public static final Setting<Duration> STALE_AFTER = Setting.of(ALL, PREFIX + "stale-after", Duration.ofHours(24))
            .where(atLeast(Duration.ZERO, "for never use zero"));

    /** How long an owner must be reported dead before its permits are released; by default 30s, at least zero. */
    public static final Setting<Duration> OWNER_GRACE = Setting.of(ALL, PREFIX + "owner-grace", Duration.ofSeconds(30))
            .where(atLeast(Duration.ZERO, "for none use zero"));

    /** The pause between two clean-ups of released requests; by default 4 hours, between 1ms and 36500 days. */
    public static final Setting<Duration> REQUEST_CLEANUP_INTERVAL = Setting.of(
                    ALL, PREFIX + "request-cleanup-interval", Duration.ofHours(4))
            .where(INTERVAL);

    /** How long a released request and its external id are kept; by default 7 days, at least 1h. */
    public static final Setting<Duration> REQUEST_RETENTION =
            Setting.of(ALL, PREFIX + "request-retention", Duration.ofDays(7)).where(RETENTION);

    /** The pause between two clean-ups of the capacity history; by default 24 hours, between 1ms and 36500 days. */
    public static final Setting<Duration> HISTORY_CLEANUP_INTERVAL = Setting.of(
                    ALL, PREFIX + "history-cleanup-interval", Duration.ofHours(24))
            .where(INTERVAL);

    /** How long the capacity history is kept; by default 30 days, at least 1h. */
    public static final Setting<Duration> HISTORY_RETENTION =
            Setting.of(ALL, PREFIX + "history-retention", Duration.ofDays(30)).where(RETENTION);

    /** Time without an acquire after which a semaphore that a pattern created is deleted; by default 7 days, at least 1h. */
    public static final Setting<Duration> PATTERN_IDLE_AFTER =
            Setting.of(ALL, PREFIX + "pattern-idle-after", Duration.ofDays(7)).where(RETENTION);

    /** The maximum number of rows that one transaction of the maintenance changes; by default 800, between 1 and 10000. */
    public static final Setting<Integer> BATCH_SIZE = Setting.of(ALL, PREFIX + "batch-size", 800)
            .where(atLeast(1, "nothing would be maintained"))
            .where(atMost(10_000, "callers would wait for the locks of the maintenance"));

    private MaintenanceSettings() {}
}
