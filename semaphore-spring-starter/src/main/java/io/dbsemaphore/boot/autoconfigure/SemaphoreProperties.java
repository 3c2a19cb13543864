package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.admin.SemaphoreName;
import io.dbsemaphore.config.OnFull;
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
 * @param enabled Whether permits are counted. If false, every acquire is granted at once, and no limit is enforced.
 * @param datasource Name of the DataSource bean whose database holds the semaphores. Default is the only or the primary
 *     one. A routing DataSource is refused: name one of its targets.
 * @param semaphores Semaphores to create at start-up if absent, by name, each with a 'capacity'. A name with other characters than
 *     letters, digits and dashes needs brackets, such as 'semaphore.semaphores.[tenant:a].capacity'.
 * @param capacityAtStart What to do at start-up about a semaphore whose capacity differs from the configured one: 'keep' it and log a
 *     warning, or 'apply' the configuration, which ends a pause. Also for the semaphores of a pattern, unless their capacity was set by
 *     hand or by a CapacityProvider.
 * @param patterns Semaphores to create on first use, by glob such as 'tenant:*', each with the 'capacity' of the semaphores that it
 *     creates. If several match a name, the longest counts.
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
     * The settings of the engine: the defaults, overridden by the properties. Each property is bound by the name that its setting has.
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
        settings = withEach(settings, SemaphoreSettings.MAX_WAITING, Declared::maxWaiting);
        settings = withEach(settings, SemaphoreSettings.MAX_WAITING_PER_SHARE, Declared::maxWaitingPerShare);
        settings = withEach(settings, SemaphoreSettings.ON_FULL, Declared::onFull);
        settings = withEach(settings, SemaphoreSettings.WEIGHTS, Declared::weights);
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

    /** The property below which a semaphore is configured. */
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
     * @param capacity How many permits may be held at once. Required. 0 pauses the semaphore.
     * @param fair Whether waiting callers of all instances are served in the order of their arrival. Default is semaphore.defaults.fair.
     * @param waitTime How long an acquire waits for permits unless its request says otherwise. Of several semaphores, the longest time
     *     counts. Default is semaphore.defaults.wait-time.
     * @param maxHold Longest time that a grant is kept alive unless its request says otherwise, at least 1s. Of several semaphores, the
     *     shortest time counts. Default is semaphore.defaults.max-hold.
     * @param maxWaiting How many callers may wait, of all instances, at least 0. A further one is refused at once, unless permits are
     *     available; on-full can change who is refused. If absent, any number.
     * @param maxWaitingPerShare How many callers with the same share may wait, of all instances, at least 0. If absent, any number. It
     *     requires fair.
     * @param onFull Who is refused when more callers than max-waiting or max-waiting-per-share would wait: with keep-oldest, the default,
     *     the new caller; with keep-newest, the one that has waited longest, of all or with the same share. It requires one of these
     *     limits.
     * @param weights Weights of shares such as 'acme' or 'acme/batch', each from 1 to 1000: twice the weight, twice the permits while both
     *     wait. A share with other characters than letters, digits and dashes needs brackets. Default is the weight that a ShareWeights
     *     bean gives, or 1. It requires fair.
     * @param reuse How long an instance keeps released permits for its next callers, which take them without a transaction. Between 10ms
     *     and 10s. If absent or zero, each release is written to the database.
     */
    record Declared(
            @DefaultValue(NO_CAPACITY) int capacity,
            @Nullable Boolean fair,
            @Nullable Duration waitTime,
            @Nullable Duration maxHold,
            @Nullable Integer maxWaiting,
            @Nullable Integer maxWaitingPerShare,
            @Nullable OnFull onFull,
            @Nullable Map<String, Integer> weights,
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
     * @param initializeSchema Whether to create missing tables at start-up, after the application has initialized its database: 'always',
     *     'never', or 'embedded' for an in-memory database only. Without effect unless 'semaphore.jdbc.schema-wait' is 0.
     * @param schemaWait How long the start waits for something else to create missing tables or columns. Unless it is 0, the library
     *     creates none. Default is 1m with an asynchronous SpringLiquibase, such as JHipster's, otherwise 0.
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
     * @param order Order of the advice of @WithPermits; a lower one is further out. By default permits are acquired before a
     *     transaction begins, and released after it has committed.
     * @param allowUnknownNames Whether the application starts although an annotation names a semaphore that is neither
     *     declared, nor matched by a pattern, nor in the database. Calls fail until it is created.
     */
    record Aop(
            @DefaultValue("1000") int order,
            @DefaultValue("false") boolean allowUnknownNames) {}

    /**
     * Whether the library creates its tables itself.
     *
     * @param enabled Whether to run the library's Liquibase changelog at start-up, after the application has initialized its database.
     *     Not needed if the application's changelog includes it.
     */
    record Liquibase(@DefaultValue("false") boolean enabled) {}
}
