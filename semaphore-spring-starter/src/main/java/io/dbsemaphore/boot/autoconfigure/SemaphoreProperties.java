package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.admin.SemaphoreName;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.config.Setting;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.PropertyMapper;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * The properties of an application beside the {@linkplain SemaphoreSettings settings of the engine}. Immutable. A property that is not
 * set is null if its default depends on the application.
 *
 * @param enabled Whether permits are counted. If false, all are granted at once, and no limit is enforced.
 * @param datasource Name of the DataSource bean whose database holds the semaphores. Default is the only or the primary
 *     one. A routing DataSource is refused; name one of its targets.
 * @param semaphores Semaphores to create at start-up if absent, by name, each with a 'capacity' of at least 0 (paused), and optionally a
 *     'reuse' time. A name with other characters than letters, digits and dashes needs brackets, such as
 *     'semaphore.semaphores.[tenant:a].capacity'.
 * @param capacityAtStart Action at start-up if a semaphore has another capacity than the configured one: 'keep' leaves it and logs a
 *     warning, 'apply' changes it, which is audited. 'apply' also ends a pause. Semaphores that a pattern has created follow the capacity
 *     of the pattern in the same way, unless their capacity was set by hand.
 * @param patterns Semaphores that may be created on first use, by glob such as 'tenant:*', each with the 'capacity' of the semaphores
 *     that it creates, and optionally a 'reuse' time. If several match, the longest counts. A name that none matches is an error.
 * @param jdbc How the tables are created.
 * @param aop How @WithPermits methods are guarded.
 * @param liquibase Whether the library creates its tables itself, by Liquibase.
 */
@ConfigurationProperties("semaphore")
record SemaphoreProperties(
        @DefaultValue("true") boolean enabled,
        @Nullable String datasource,
        @DefaultValue Map<String, Declared> semaphores,
        @DefaultValue("keep") CapacityAtStart capacityAtStart,
        @DefaultValue Map<String, Declared> patterns,
        @DefaultValue Jdbc jdbc,
        @DefaultValue Aop aop,
        @DefaultValue Liquibase liquibase) {

    /** The action if a semaphore has another capacity than the configured one. */
    enum CapacityAtStart {

        /** Keep the capacity in the database, and log a warning. */
        KEEP,

        /** Change the capacity to the configured one. The change is audited with {@code configuration} as the operator. */
        APPLY
    }

    private static final Pattern NEEDS_NO_BRACKETS = Pattern.compile("[A-Za-z0-9-]+");

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException when one of them cannot work, naming the property
     */
    SemaphoreProperties {
        datasource = StringUtils.hasText(datasource) ? datasource : null;
        semaphores = Collections.unmodifiableMap(new LinkedHashMap<>(semaphores));
        semaphores.forEach(SemaphoreProperties::requireValid);
        patterns = Collections.unmodifiableMap(new LinkedHashMap<>(patterns));
    }

    /**
     * The settings of the engine: its defaults, changed by the properties, which are bound by the settings' own names.
     *
     * @throws IllegalArgumentException when a value cannot work
     */
    SemaphoreSettings toSettings(Environment environment, String defaultOwner) {
        Binder binder = Binder.get(environment);
        SemaphoreSettings settings = SemaphoreSettings.defaults()
                .with(SemaphoreSettings.OWNER, defaultOwner)
                .withProperties((property, type) -> {
                    Object value = binder.bind(property, type).orElse(null);
                    return value instanceof String text && !StringUtils.hasText(text) ? null : value;
                });
        settings = settings.with(SemaphoreSettings.PATTERNS, values(patterns, Declared::capacity));
        settings = withEach(settings, SemaphoreSettings.FAIR, Declared::fair);
        settings = withEach(settings, SemaphoreSettings.MAX_HOLD, Declared::maxHold);
        settings = withEach(settings, SemaphoreSettings.WAIT_TIME, Declared::waitTime);
        return withEach(settings, SemaphoreSettings.REUSE, Declared::reuse).requireConsistent();
    }

    private <T> SemaphoreSettings withEach(
            SemaphoreSettings settings, Setting<PerSemaphore<T>> setting, Function<Declared, @Nullable T> value) {
        T byDefault = settings.get(setting).byDefault();
        return settings.with(
                setting, new PerSemaphore<>(byDefault, values(semaphores, value), values(patterns, value)));
    }

    private static <T> Map<String, T> values(Map<String, Declared> declared, Function<Declared, @Nullable T> value) {
        Map<String, T> values = new HashMap<>();
        declared.forEach(
                (name, each) -> PropertyMapper.get().from(value.apply(each)).to(own -> values.put(name, own)));
        return values;
    }

    /** The property of a semaphore, below which its capacity is configured. */
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
            // without its cause: Spring Boot shows the last one, which does not name the property
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
     * @param capacity How many permits may be held at once, at least 0 (paused). Required.
     * @param fair Whether callers that wait are served in the order of their arrival, whatever instance they wait in. Default is
     *     semaphore.defaults.fair.
     * @param waitTime How long an acquire waits for permits unless its request says otherwise. An acquire of several semaphores waits for
     *     the longest of their times. Default is semaphore.defaults.wait-time.
     * @param maxHold Longest time that a grant is kept alive, at least 1s, unless its request says otherwise. For a grant of several
     *     semaphores, the shortest of their times. Default is semaphore.defaults.max-hold.
     * @param reuse How long permits that callers of this instance have released are kept for its next callers, without transactions.
     *     Between 10ms and 10s. If absent or zero, each release is written to the database.
     */
    record Declared(
            @DefaultValue(NO_CAPACITY) int capacity,
            @Nullable Boolean fair,
            @Nullable Duration waitTime,
            @Nullable Duration maxHold,
            @Nullable Duration reuse) {

        /** The capacity of an entry that has other settings only. */
        private static final String NO_CAPACITY = "" + Integer.MIN_VALUE;

        boolean hasCapacity() {
            return capacity != Integer.MIN_VALUE;
        }
    }

    /**
     * How the tables are created.
     *
     * @param initializeSchema Whether the library creates its tables by its SQL script if they are missing: 'embedded' in an in-memory
     *     database only, 'always' or 'never'. It looks for them after everything that initializes the application's database, and never if
     *     a changelog of the application runs in the background or 'semaphore.jdbc.schema-wait' is set.
     * @param schemaWait How long the start waits for something else to create tables that are missing or lack columns, at least 0. Unless
     *     it is 0, the library creates none. Default is 1m with an asynchronous SpringLiquibase, such as JHipster's, otherwise 0.
     */
    record Jdbc(
            @DefaultValue("embedded") DatabaseInitializationMode initializeSchema,
            @Nullable Duration schemaWait) {

        Jdbc {
            if (schemaWait != null && schemaWait.isNegative()) {
                throw new IllegalArgumentException(
                        "semaphore.jdbc.schema-wait must be at least PT0S, but is %s: to not wait use zero"
                                .formatted(schemaWait));
            }
        }
    }

    /**
     * How annotated methods are guarded.
     *
     * @param order Order of the advice; a lower one is further out. The default is below that of transactions: permits are acquired
     *     before a transaction begins and released after it has committed.
     * @param allowUnknownNames Whether the application starts although an annotation names a semaphore that is neither
     *     declared, nor matched by a pattern, nor in the database. Calls fail until it is created.
     */
    record Aop(
            @DefaultValue("1000") int order,
            @DefaultValue("false") boolean allowUnknownNames) {}

    /**
     * Whether the library creates its tables itself.
     *
     * @param enabled Whether the library runs its Liquibase changelog itself at start-up, after the application has initialized its
     *     database. Not needed if the application's own changelog includes it.
     */
    record Liquibase(@DefaultValue("false") boolean enabled) {}
}
