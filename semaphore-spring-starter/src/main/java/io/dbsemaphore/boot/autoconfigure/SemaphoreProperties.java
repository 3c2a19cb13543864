package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.SemaphoreName;
import io.dbsemaphore.config.HostTransaction;
import io.dbsemaphore.config.MaintenanceSettings;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphorePatterns;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.config.Setting;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.PropertyMapper;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.util.StringUtils;

/**
 * What an application can configure. Immutable. What is not configured is null where the engine has a default for it, see
 * {@link SemaphoreSettings}; the configuration metadata shows these defaults.
 *
 * @param enabled Whether semaphores are configured at all. When false there is neither a SemaphoreTemplate nor anything
 *     that guards @WithPermits methods, so that these run without permits.
 * @param datasource Name of the DataSource bean whose database holds the semaphores. Default is the only or the primary
 *     one. A routing DataSource is refused, one of its targets has to be named.
 * @param tablePrefix What the names of the tables begin with, up to 30 letters, digits and underscores. The changelog
 *     parameter 'dbsemaphore.tablePrefix' must agree.
 * @param semaphores Semaphores to create at start-up where they are absent, by name, each with a 'capacity' of at least
 *     0, which pauses it, and optionally a 'reuse' time. A name with other characters than letters, digits and dashes needs
 *     brackets, such as 'semaphore.semaphores.[tenant:a].capacity'.
 * @param capacityAtStart What happens at start-up to a semaphore that exists with another capacity than is configured:
 *     'keep' leaves it and logs a warning, 'apply' changes it, which is audited. 'apply' also ends a pause.
 * @param patterns Semaphores that may be created on first use, by glob such as 'tenant:*', each with the 'capacity' of what it
 *     creates, and optionally a 'reuse' time. Of several that match, the longest counts. A name that nothing matches is an error.
 * @param maxPatternSemaphores How many semaphores the patterns may create in all.
 * @param fair Whether callers that wait are served in the order of their arrival, whatever instance they wait in.
 * @param defaultTtl Time to live of a grant whose request names none, at least 1s.
 * @param maxTtl Longest time to live that a request may ask for.
 * @param maxHold When a grant that is kept alive ends when its request says nothing else.
 * @param leakDetectionThreshold How long a grant may be held until a warning says where it was acquired. Zero for no warning.
 * @param keepAliveInterval Longest time between two renewals of a grant that is kept alive. A third of its time to live
 *     where that is sooner.
 * @param instanceTimeout Time without a heartbeat after which the permits that an instance kept alive can be reclaimed, whatever
 *     their time to live is, at least 3s.
 * @param shutdownTimeout How long a shutdown waits for work under permits to end, before it releases them.
 * @param owner Who operators see holding what is acquired without an owner, up to 190 characters. Default is this
 *     application instance, by application name, host and process id.
 * @param lockWaitTimeout How long, over all attempts, to wait for a row that another transaction has locked, at least 1s.
 * @param decisionTimeout How long a decision that is under way is awaited when the wait time of its caller is over, at least
 *     1s. A caller without a wait time waits no longer than this. Default is the lock wait timeout.
 * @param sessionIdleLimit After how long without a statement the server ends a transaction of the library and frees its
 *     locks, such as those of an instance that froze. Not below the lock wait timeout.
 * @param maxAttempts How many times a transaction that fails because of a conflict is tried.
 * @param maxNamesPerRequest How many semaphores one request may name.
 * @param maxBatchSize How many acquires of this JVM's callers one transaction decides at most. The same bound holds for
 *     releases. Up to 500 renewals share a transaction, whatever this is. 1 means one caller per transaction.
 * @param maxConnections How many connections of the pool are used at once, whatever the number of threads.
 * @param pipelining Whether several statements are sent to the database at once where its driver can (those of MySQL and
 *     PostgreSQL). Some filters, proxies and firewalls refuse that.
 * @param notifications Whether instances tell one another at once what they have released, which needs PostgreSQL and, while
 *     callers wait, one connection more. Otherwise they poll.
 * @param hostTransaction What to do with an acquire within an open transaction of the application, which needs a second
 *     connection: it is done, done with one warning, or refused.
 * @param initializeSchema Whether the library creates its tables by its SQL script if they are missing: 'embedded' in an
 *     in-memory database only, 'always' or 'never'. It looks for them after all that initializes the application's database,
 *     and never where a changelog of the application runs in the background or 'semaphore.schema-wait' is set.
 * @param schemaWait How long the start waits for tables that are missing or lack columns, since the application's changelog
 *     runs in the background. Default is 1m where it does so by an asynchronous SpringLiquibase, such as JHipster's, otherwise 0.
 * @param aop How @WithPermits methods are guarded.
 * @param maintenance What is done by schedule, by one instance at a time.
 * @param liquibase Whether the library creates its tables itself, by Liquibase.
 */
@ConfigurationProperties("semaphore")
public record SemaphoreProperties(
        @DefaultValue("true") boolean enabled,
        @Nullable String datasource,
        @Nullable String tablePrefix,
        @DefaultValue Map<String, Declared> semaphores,
        @DefaultValue("keep") CapacityAtStart capacityAtStart,
        @DefaultValue Map<String, Declared> patterns,
        @Nullable Integer maxPatternSemaphores,
        @DefaultValue("true") boolean fair,
        @Nullable Duration defaultTtl,
        @Nullable Duration maxTtl,
        @Nullable Duration maxHold,
        @Nullable Duration leakDetectionThreshold,
        @Nullable Duration keepAliveInterval,
        @Nullable Duration instanceTimeout,
        @Nullable Duration shutdownTimeout,
        @Nullable String owner,
        @Nullable Duration lockWaitTimeout,
        @Nullable Duration decisionTimeout,
        @Nullable Duration sessionIdleLimit,
        @Nullable Integer maxAttempts,
        @Nullable Integer maxNamesPerRequest,
        @Nullable Integer maxBatchSize,
        @Nullable Integer maxConnections,
        @Nullable Boolean pipelining,
        @Nullable Boolean notifications,
        @Nullable HostTransaction hostTransaction,
        @DefaultValue("embedded") DatabaseInitializationMode initializeSchema,
        @Nullable Duration schemaWait,
        @DefaultValue Aop aop,
        @DefaultValue Maintenance maintenance,
        @DefaultValue Liquibase liquibase) {

    private static final Pattern NEEDS_NO_BRACKETS = Pattern.compile("[A-Za-z0-9-]+");

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException when one of them cannot work, naming the property
     */
    public SemaphoreProperties {
        datasource = StringUtils.hasText(datasource) ? datasource : null;
        semaphores = Collections.unmodifiableMap(new LinkedHashMap<>(semaphores));
        semaphores.forEach(SemaphoreProperties::requireValid);
        patterns = Collections.unmodifiableMap(new LinkedHashMap<>(patterns));
    }

    /** @throws IllegalArgumentException when a pattern cannot work */
    SemaphorePatterns toPatterns() {
        SemaphorePatterns all = SemaphorePatterns.NONE;
        for (Map.Entry<String, Declared> pattern : patterns.entrySet()) {
            all = all.withPattern(pattern.getKey(), pattern.getValue().capacity());
        }
        return PropertyMapper.get().from(maxPatternSemaphores).to(all, SemaphorePatterns::withMaxSemaphores);
    }

    /**
     * The settings of the engine: its defaults, but for what is configured.
     *
     * @throws IllegalArgumentException when a value cannot work
     */
    SemaphoreSettings toSettings(String defaultOwner) {
        PropertyMapper map = PropertyMapper.get();
        SemaphoreSettings settings = SemaphoreSettings.defaults().with(SemaphoreSettings.OWNER, defaultOwner);
        settings = map.from(owner).whenHasText().to(settings, to(SemaphoreSettings.OWNER));
        settings = map.from(tablePrefix).to(settings, to(SemaphoreSettings.TABLE_PREFIX));
        settings = map.from(defaultTtl).to(settings, to(SemaphoreSettings.DEFAULT_TTL));
        settings = map.from(maxTtl).to(settings, to(SemaphoreSettings.MAX_TTL));
        settings = map.from(maxHold).to(settings, to(SemaphoreSettings.MAX_HOLD));
        settings = map.from(leakDetectionThreshold).to(settings, to(SemaphoreSettings.LEAK_DETECTION_THRESHOLD));
        settings = map.from(keepAliveInterval).to(settings, to(SemaphoreSettings.KEEP_ALIVE_INTERVAL));
        settings = map.from(instanceTimeout).to(settings, to(SemaphoreSettings.INSTANCE_TIMEOUT));
        settings = map.from(shutdownTimeout).to(settings, to(SemaphoreSettings.SHUTDOWN_TIMEOUT));
        settings = map.from(lockWaitTimeout).to(settings, to(SemaphoreSettings.LOCK_WAIT_TIMEOUT));
        settings = map.from(decisionTimeout).to(settings, to(SemaphoreSettings.DECISION_TIMEOUT));
        settings = map.from(sessionIdleLimit).to(settings, to(SemaphoreSettings.SESSION_IDLE_LIMIT));
        settings = map.from(maxAttempts).to(settings, to(SemaphoreSettings.MAX_ATTEMPTS));
        settings = map.from(maxNamesPerRequest).to(settings, to(SemaphoreSettings.MAX_NAMES_PER_REQUEST));
        settings = map.from(maxBatchSize).to(settings, to(SemaphoreSettings.MAX_BATCH_SIZE));
        settings = map.from(maxConnections).to(settings, to(SemaphoreSettings.MAX_CONNECTIONS));
        settings = map.from(pipelining).to(settings, to(SemaphoreSettings.PIPELINING));
        settings = map.from(notifications).to(settings, to(SemaphoreSettings.NOTIFICATIONS));
        settings = map.from(perSemaphore(SemaphoreSettings.FAIR, fair, Declared::fair))
                .to(settings, to(SemaphoreSettings.FAIR));
        settings = map.from(hostTransaction).to(settings, to(SemaphoreSettings.HOST_TRANSACTION));
        settings = map.from(perSemaphore(SemaphoreSettings.REUSE, Duration.ZERO, Declared::reuse))
                .to(settings, to(SemaphoreSettings.REUSE));
        return maintenance.addTo(settings).requireConsistent();
    }

    /** The values that were set; null if they are the default, so that a setting that nobody set stays unset. */
    private <T> @Nullable PerSemaphore<T> perSemaphore(
            Setting<PerSemaphore<T>> setting, T byDefault, Function<Declared, @Nullable T> value) {
        PerSemaphore<T> all = new PerSemaphore<>(byDefault, values(semaphores, value), values(patterns, value));
        return all.equals(SemaphoreSettings.defaults().get(setting)) ? null : all;
    }

    private static <T> Map<String, T> values(Map<String, Declared> declared, Function<Declared, @Nullable T> value) {
        Map<String, T> values = new HashMap<>();
        declared.forEach((name, each) -> {
            T own = value.apply(each);
            if (own != null) {
                values.put(name, own);
            }
        });
        return values;
    }

    private static <T> BiFunction<SemaphoreSettings, T, SemaphoreSettings> to(Setting<T> setting) {
        return (settings, value) -> settings.with(setting, value);
    }

    /** What the capacity of a semaphore is configured below. */
    static String property(String name) {
        return property("semaphore.semaphores", name);
    }

    static String property(String root, String name) {
        return root + "." + (NEEDS_NO_BRACKETS.matcher(name).matches() ? name : "[" + name + "]");
    }

    private static void requireValid(String name, Declared declared) {
        String property = property(name);
        try {
            SemaphoreName.requireValid(name);
        } catch (IllegalArgumentException invalid) {
            // Without its cause: Spring Boot shows the last one, which knows nothing of the property
            throw new IllegalArgumentException("%s is not valid. %s".formatted(property, invalid.getMessage()));
        }
        if (declared.capacity() < 0) {
            throw new IllegalArgumentException(
                    "%s.capacity must be at least 0: %d".formatted(property, declared.capacity()));
        }
    }

    /**
     * A semaphore to create.
     *
     * @param capacity How many permits may be held at once, at least 0, which pauses it. Required.
     * @param fair Whether callers that wait are served in the order of their arrival, whatever instance they wait in. Default is
     *     semaphore.fair.
     * @param reuse For how long permits that callers of this instance have released are kept for its next callers, without
     *     transactions. Between 10ms and 10s. Without it, or with zero, each release is written to the database.
     */
    public record Declared(
            int capacity, @Nullable Boolean fair, @Nullable Duration reuse) {}

    /**
     * How annotated methods are guarded.
     *
     * @param order Order of the advice among others, a lower one is further out. Below that of transactions, so that
     *     permits are acquired before a transaction begins and released after it has committed.
     * @param allowUnknownNames Whether the application starts although an annotation names a semaphore that is neither
     *     declared, nor matched by a pattern, nor in the database. Calls fail until it is created.
     */
    public record Aop(
            @DefaultValue("1000") int order,
            @DefaultValue("false") boolean allowUnknownNames) {}

    /**
     * Whether the library creates its tables itself.
     *
     * @param enabled Whether the library runs its Liquibase changelog itself at start-up, after what the application
     *     initializes its database with. Not needed where the application's own changelog includes it.
     */
    public record Liquibase(@DefaultValue("false") boolean enabled) {}

    /**
     * What is done by schedule, by one instance at a time.
     *
     * @param enabled Whether this instance takes part.
     * @param orphanReleaseInterval From one release of orphaned permits to the next.
     * @param staleAfter After how long permits without a time to live count as orphaned. Zero is never.
     * @param ownerGrace How long an owner must be found dead by an OwnerLiveness bean before its permits are released.
     * @param requestCleanupInterval From one clean-up of released requests to the next.
     * @param requestRetention How long a released request, and with it its external id, is remembered, at least 1h.
     * @param historyCleanupInterval From one clean-up of the capacity history to the next.
     * @param historyRetention How long the capacity history is kept, at least 1h.
     * @param patternIdleAfter After how long a semaphore that a pattern created, and that nobody acquires, is removed, at least
     *     1h.
     * @param batchSize How many rows one transaction of the maintenance touches at most.
     */
    public record Maintenance(
            @Nullable Boolean enabled,
            @Nullable Duration orphanReleaseInterval,
            @Nullable Duration staleAfter,
            @Nullable Duration ownerGrace,
            @Nullable Duration requestCleanupInterval,
            @Nullable Duration requestRetention,
            @Nullable Duration historyCleanupInterval,
            @Nullable Duration historyRetention,
            @Nullable Duration patternIdleAfter,
            @Nullable Integer batchSize) {

        private SemaphoreSettings addTo(SemaphoreSettings others) {
            PropertyMapper map = PropertyMapper.get();
            SemaphoreSettings settings = others;
            settings = map.from(enabled).to(settings, to(MaintenanceSettings.ENABLED));
            settings = map.from(orphanReleaseInterval).to(settings, to(MaintenanceSettings.ORPHAN_RELEASE_INTERVAL));
            settings = map.from(staleAfter).to(settings, to(MaintenanceSettings.STALE_AFTER));
            settings = map.from(ownerGrace).to(settings, to(MaintenanceSettings.OWNER_GRACE));
            settings = map.from(requestCleanupInterval).to(settings, to(MaintenanceSettings.REQUEST_CLEANUP_INTERVAL));
            settings = map.from(requestRetention).to(settings, to(MaintenanceSettings.REQUEST_RETENTION));
            settings = map.from(historyCleanupInterval).to(settings, to(MaintenanceSettings.HISTORY_CLEANUP_INTERVAL));
            settings = map.from(historyRetention).to(settings, to(MaintenanceSettings.HISTORY_RETENTION));
            settings = map.from(patternIdleAfter).to(settings, to(MaintenanceSettings.PATTERN_IDLE_AFTER));
            settings = map.from(batchSize).to(settings, to(MaintenanceSettings.BATCH_SIZE));
            return settings;
        }
    }
}
