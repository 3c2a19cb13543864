package io.dbsemaphore.config;

import static io.dbsemaphore.config.Setting.atLeast;
import static io.dbsemaphore.config.Setting.atMost;
import static io.dbsemaphore.config.Setting.must;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.admin.SemaphoreName;
import io.dbsemaphore.spi.ShareWeights;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * The settings of an engine. Immutable: take the {@linkplain #defaults() defaults} and change what differs.
 *
 * <pre>{@code
 * SemaphoreSettings.defaults().with(MAX_TTL, Duration.ofHours(1)).with(MaintenanceSettings.ENABLED, false)
 * }</pre>
 *
 * <p>They can be set in any order: values that contradict each other are refused when an engine is created.
 */
public final class SemaphoreSettings {

    private static final Duration SECOND = Duration.ofSeconds(1);

    /** The settings that have a property of their own. */
    private static final List<Setting<?>> ALL = new ArrayList<>();

    /** The owner (1 to 190 characters) of acquires whose request names none; by default {@code jvm-<process id>@<host>}. */
    public static final Setting<String> OWNER = Setting.of(ALL, "semaphore.owner", String.class, others -> nameOfJvm())
            .where(SemaphoreName::requireValidKey);

    /** The prefix of the table names: up to 30 letters, digits and underscores; by default empty. */
    public static final Setting<String> TABLE_PREFIX = Setting.of(ALL, "semaphore.jdbc.table-prefix", "")
            .where(must(
                    "up to 30 letters, digits, _",
                    prefix -> prefix.matches("[A-Za-z0-9_]{0,30}"),
                    "no table can be named so"));

    /** The TTL of a request that names none; by default 5 minutes, at least 1s, at most {@link #MAX_TTL}. */
    public static final Setting<Duration> DEFAULT_TTL = Setting.of(ALL, "semaphore.defaults.ttl", Duration.ofMinutes(5))
            .where(atLeast(AcquireRequest.MIN_TTL, "a grant would expire before its caller can use it"));

    /** The longest TTL that a request may ask for; by default 30 days, at least 1s, at most ten years. */
    public static final Setting<Duration> MAX_TTL = Setting.of(ALL, "semaphore.max-ttl", Duration.ofDays(30))
            .where(atLeast(AcquireRequest.MIN_TTL, "every TTL would be refused"))
            .where(atMost(Duration.ofDays(3650), "for grants that last until released use requests without a TTL"));

    /**
     * The longest time that a grant is kept alive unless its request says otherwise, for each semaphore or pattern; by default 24 hours,
     * at least 1s. A grant of several semaphores ends after the shortest of their values.
     */
    public static final Setting<PerSemaphore<Duration>> MAX_HOLD = Setting.of(
                    ALL, "semaphore.defaults.max-hold", PerSemaphore.all(Duration.ofHours(24)))
            .where(eachOf(atLeast(AcquireRequest.MIN_TTL, "a grant would end before its work")));

    /**
     * How long an acquire waits for permits unless its request says otherwise, for each semaphore or pattern; by default zero, that is,
     * it does not wait. An acquire of several semaphores waits as long as the longest of their values.
     */
    public static final Setting<PerSemaphore<Duration>> WAIT_TIME = Setting.of(
                    ALL, "semaphore.defaults.wait-time", PerSemaphore.all(Duration.ZERO))
            .where(eachOf(atLeast(Duration.ZERO, "to not wait use zero")));

    /**
     * The longest head start that a request may ask for; by default an hour, from zero to 365 days. Callers without one can be overtaken
     * for that long.
     */
    public static final Setting<Duration> MAX_HEAD_START = Setting.of(
                    ALL, "semaphore.max-head-start", Duration.ofHours(1))
            .where(atLeast(Duration.ZERO, "to allow no head starts use zero"))
            .where(atMost(Duration.ofDays(365), "callers without a head start would be overtaken for longer"));

    /**
     * The longest time between two renewals of a grant that is kept alive; by default an hour, at least 100ms. If a third of the
     * grant's TTL is shorter, that applies.
     */
    public static final Setting<Duration> KEEP_ALIVE_INTERVAL = Setting.of(
                    ALL, "semaphore.keep-alive-interval", Duration.ofHours(1))
            .where(atLeast(Duration.ofMillis(100), "renewals would keep the database busy"));

    /**
     * How long a grant may be held before a warning says where it was acquired; by default zero, which logs none. Otherwise each acquire
     * records the stack of its caller. Without effect for permits that are reused or have no TTL.
     */
    public static final Setting<Duration> LEAK_DETECTION_THRESHOLD = Setting.of(
                    ALL, "semaphore.leak-detection-threshold", Duration.ZERO)
            .where(atLeast(Duration.ZERO, "to detect no leaks use zero"));

    /**
     * The time without a heartbeat after which others may reclaim the permits that an instance keeps alive; by default 20s, at least 3s.
     * After an outage of the database, a live instance has a third of this time for its next heartbeat. HikariCP pauses for up to 5s
     * between two attempts to connect: below 18s an outage may cost live instances their permits.
     */
    public static final Setting<Duration> INSTANCE_TIMEOUT = Setting.of(
                    ALL, "semaphore.instance-timeout", Duration.ofSeconds(20))
            .where(atLeast(Duration.ofSeconds(3), "a short pause would cost a live instance its permits"));

    /** How long a shutdown waits for work under permits to end; by default 20s, zero or more. */
    public static final Setting<Duration> SHUTDOWN_TIMEOUT = Setting.of(
                    ALL, "semaphore.shutdown-timeout", Duration.ofSeconds(20))
            .where(atLeast(Duration.ZERO, "to release permits without waiting use zero"));

    /**
     * How long, over all attempts, the library waits for a row that another transaction has locked; by default 5s, at least 1s.
     * An acquire with a wait time waits up to {@link #MAX_ATTEMPTS} times as long. When its wait time ends, it waits only for the running
     * statement, which ends within a second, or two on InnoDB.
     */
    public static final Setting<Duration> LOCK_WAIT_TIMEOUT = Setting.of(
                    ALL, "semaphore.jdbc.lock-wait-timeout", Duration.ofSeconds(5))
            .where(atLeast(SECOND, "some databases count lock timeouts in whole seconds"));

    /**
     * How long a caller waits for a decision in progress after its wait time, or after its call if it does not wait; by default
     * {@link #LOCK_WAIT_TIMEOUT}, at least 1s.
     */
    public static final Setting<Duration> DECISION_TIMEOUT = Setting.of(
                    ALL, "semaphore.jdbc.decision-timeout", Duration.class, others -> others.apply(LOCK_WAIT_TIMEOUT))
            .where(atLeast(SECOND, "callers would give up while a decision is under way"));

    /**
     * The time without a statement after which the server ends the session of an open transaction of the library, to free the locks of a
     * frozen JVM; by default 10s, at least {@link #LOCK_WAIT_TIMEOUT}.
     */
    public static final Setting<Duration> SESSION_IDLE_LIMIT =
            Setting.of(ALL, "semaphore.jdbc.session-idle-limit", Duration.ofSeconds(10));

    /**
     * The maximum number of attempts of a transaction that fails because of a conflict; by default 3, at least 1. Unless it is 1, a
     * transaction that the database rolled back in favor of another one is repeated for {@link #DECISION_TIMEOUT} or
     * {@link #LOCK_WAIT_TIMEOUT} instead.
     */
    public static final Setting<Integer> MAX_ATTEMPTS =
            Setting.of(ALL, "semaphore.jdbc.max-attempts", 3).where(atLeast(1, "no transaction would run"));

    /**
     * The globs, such as {@code tenant:*}, by which semaphores are created on first use, each with its capacity; by default none. If
     * several match, the longest applies. A glob needs at least one {@code *} and a fixed part; the capacity is at least 0.
     */
    public static final Setting<Map<String, Integer>> PATTERNS = Setting.of(
                    "semaphore.patterns", Map.<String, Integer>of())
            .where((property, capacities) -> capacities.forEach(SemaphoreSettings::requireValidPattern));

    /** The maximum number of semaphores that the {@link #PATTERNS} create; by default 100000, at least 1. */
    public static final Setting<Integer> MAX_PATTERN_SEMAPHORES = Setting.of(
                    ALL, "semaphore.max-pattern-semaphores", 100_000)
            .where(atLeast(1, "the patterns could not create any"));

    /** The maximum number of semaphores in one request; by default 100, at least 1. */
    public static final Setting<Integer> MAX_NAMES_PER_REQUEST =
            Setting.of(ALL, "semaphore.max-names-per-request", 100).where(atLeast(1, "every request would be refused"));

    /**
     * The maximum number of acquires, or of releases, in one transaction; by default 500, at least 1. 1 means one caller per transaction:
     * slower, with the same guarantees. Up to 500 renewals share a transaction in any case.
     */
    public static final Setting<Integer> MAX_BATCH_SIZE = Setting.of(ALL, "semaphore.jdbc.max-batch-size", 500)
            .where(atLeast(1, "no transaction could decide anything"));

    /** The maximum number of connections of the pool that the library uses at once; by default 4, at least 1. */
    public static final Setting<Integer> MAX_CONNECTIONS =
            Setting.of(ALL, "semaphore.jdbc.max-connections", 4).where(atLeast(1, "the database could not be reached"));

    /**
     * Sends several statements to the database at once if its driver can; by default true. If false, each costs a round trip, as some
     * filters, proxies and firewalls demand.
     */
    public static final Setting<Boolean> PIPELINING = Setting.of(ALL, "semaphore.jdbc.pipelining", true);

    /**
     * The round-trip time to the database from which an acquire is tried in one round trip instead of two; by default 0.3ms. Below it, the
     * larger statements would cost as much as the round trip that they save. Needs {@link #PIPELINING}.
     */
    public static final Setting<Duration> ONE_TRIP_FROM = Setting.of(
                    ALL, "semaphore.jdbc.one-trip-from", Duration.ofNanos(300_000))
            .where(atLeast(Duration.ZERO, "to always try it use zero"));

    /**
     * Lets instances notify one another of releases if the database can (PostgreSQL); by default false. While callers wait, this takes a
     * connection of the pool besides {@link #MAX_CONNECTIONS}. If false, instances find releases by polling.
     */
    public static final Setting<Boolean> NOTIFICATIONS = Setting.of(ALL, "semaphore.jdbc.notifications", false);

    /**
     * How long a JVM keeps released permits for its next callers, which take them without a transaction; for each semaphore or pattern.
     * Between 10ms and 10s, or zero, the default, to keep none.
     */
    public static final Setting<PerSemaphore<Duration>> REUSE = Setting.of(
                    "semaphore.semaphores.<name>.reuse", PerSemaphore.all(Duration.ZERO))
            .where(
                    eachOf(
                            must(
                                    "between 10ms and 10s, or zero",
                                    SemaphoreSettings::isReuseTime,
                                    "permits would be returned before they are reused, or other instances would wait too long for them")));

    /**
     * Serves waiting callers of all instances in the order of their arrival; by default true. If false, each instance has a queue of its
     * own, and a busy instance may keep a semaphore to itself.
     */
    public static final Setting<PerSemaphore<Boolean>> FAIR =
            Setting.of(ALL, "semaphore.defaults.fair", PerSemaphore.all(true));

    /**
     * How many callers of all instances may wait for a semaphore, for each semaphore or pattern; at least 0, by default
     * {@link Integer#MAX_VALUE}, that is, any number. A further caller is refused at once, unless it is granted its permits at once. Each
     * instance counts its own callers exactly, and others as of its last poll or transaction; without {@link #FAIR} only its own.
     */
    public static final Setting<PerSemaphore<Integer>> MAX_WAITING = Setting.of(
                    "semaphore.semaphores.<name>.max-waiting", PerSemaphore.all(Integer.MAX_VALUE))
            .where(eachOf(atLeast(0, "with 0 no caller waits")));

    /**
     * How many callers of all instances may wait for a semaphore with the same share, for each semaphore or pattern; at least 0, by default
     * {@link Integer#MAX_VALUE}, that is, any number. As {@link #MAX_WAITING} otherwise. Callers without a share are not counted. Of another
     * instance, the callers of 64 shares are known. Requires {@link #FAIR}.
     */
    public static final Setting<PerSemaphore<Integer>> MAX_WAITING_PER_SHARE = Setting.of(
                    "semaphore.semaphores.<name>.max-waiting-per-share", PerSemaphore.all(Integer.MAX_VALUE))
            .where(eachOf(atLeast(0, "with 0 no caller with a share waits")));

    /**
     * Who is refused when more than {@link #MAX_WAITING} callers would wait, or more than {@link #MAX_WAITING_PER_SHARE} with the same
     * share, for each semaphore or pattern; by default {@link OnFull#KEEP_OLDEST}. {@link OnFull#KEEP_NEWEST} requires one of these limits.
     */
    public static final Setting<PerSemaphore<OnFull>> ON_FULL =
            Setting.of("semaphore.semaphores.<name>.on-full", PerSemaphore.all(OnFull.KEEP_OLDEST));

    /**
     * The weights of shares ({@code acme} or {@code acme/batch}) for each semaphore or pattern, from 1 to 1000. Default: none. All other
     * shares have the weight that a {@link ShareWeights} gives, or else 1. While both wait, a share of weight 2 is granted twice as many
     * permits as one of weight 1. Must be the same in all instances. Requires {@link #FAIR}.
     */
    public static final Setting<PerSemaphore<Map<String, Integer>>> WEIGHTS = Setting.of(
                    "semaphore.semaphores.<name>.weights", PerSemaphore.all(Map.<String, Integer>of()))
            .where(eachOf((property, weights) -> weights.forEach(
                    (share, weight) -> requireValidWeight(property + ".[" + share + "]", share, weight))));

    /** The action for an acquire within an open transaction of the application; by default {@link HostTransaction#WARN}. */
    public static final Setting<HostTransaction> HOST_TRANSACTION =
            Setting.of(ALL, "semaphore.host-transaction", HostTransaction.WARN);

    private static final SemaphoreSettings DEFAULTS = new SemaphoreSettings(Map.of());

    private final Map<Setting<?>, Object> values;

    private SemaphoreSettings(Map<Setting<?>, Object> values) {
        this.values = values;
    }

    /** {@return the defaults} */
    public static SemaphoreSettings defaults() {
        return DEFAULTS;
    }

    /**
     * Returns the value of a setting, or its default if it was not set.
     *
     * @param <T> the type of the value
     * @param setting the setting
     * @return the value
     */
    @SuppressWarnings("unchecked") // with() lets in only values of the setting's own type
    public <T> T get(Setting<T> setting) {
        Object value = values.get(setting);
        return value != null ? (T) value : setting.byDefault(this::get);
    }

    /**
     * Changes a setting.
     *
     * @param <T> the type of the value
     * @param setting the setting
     * @param value the new value
     * @return the changed settings
     * @throws IllegalArgumentException if the value is out of bounds
     */
    public <T> SemaphoreSettings with(Setting<T> setting, T value) {
        setting.check(value);
        Map<Setting<?>, Object> changed = new HashMap<>(values);
        changed.put(setting, unmodifiable(value));
        return new SemaphoreSettings(Map.copyOf(changed));
    }

    private static Object unmodifiable(Object value) {
        if (value instanceof PerSemaphore<?> each && each.byDefault() instanceof Map<?, ?>) {
            return new PerSemaphore<>(
                    unmodifiable(each.byDefault()), unmodifiable(each.byName()), unmodifiable(each.byPattern()));
        }
        return value instanceof Map<?, ?> map ? Map.copyOf(map) : value;
    }

    private static Map<String, Object> unmodifiable(Map<String, ?> values) {
        Map<String, Object> copies = new HashMap<>();
        values.forEach((name, value) -> copies.put(name, unmodifiable(value)));
        return copies;
    }

    /**
     * Adds a glob to the {@link #PATTERNS}.
     *
     * @param glob the glob, with at least one {@code *}
     * @param capacity the capacity of the semaphores that it creates, at least 0
     * @return the changed settings
     * @throws IllegalArgumentException if the glob or the capacity is invalid
     */
    public SemaphoreSettings withPattern(String glob, int capacity) {
        Map<String, Integer> more = new HashMap<>(get(PATTERNS));
        more.put(glob, capacity);
        return with(PATTERNS, more);
    }

    /**
     * Finds the longest glob of the {@link #PATTERNS} that matches a name.
     *
     * @param name the name of the semaphore
     * @return the glob and its capacity; empty if none matches
     */
    public Optional<Map.Entry<String, Integer>> patternOf(String name) {
        return PerSemaphore.longestMatch(get(PATTERNS), name);
    }

    /**
     * Changes the settings that an application has properties for. For {@link #FAIR}, {@link #MAX_HOLD} and {@link #WAIT_TIME} it changes
     * the value for all semaphores. {@link #REUSE}, {@link #MAX_WAITING}, {@link #MAX_WAITING_PER_SHARE}, {@link #ON_FULL},
     * {@link #WEIGHTS} and {@link #PATTERNS} are not changed: they have properties of single semaphores and patterns only.
     *
     * @param properties finds the value of a property, as an instance of a type; null if the application has none
     * @return the changed settings
     * @throws IllegalArgumentException if a value is out of bounds
     */
    public SemaphoreSettings withProperties(BiFunction<String, Class<?>, @Nullable Object> properties) {
        SemaphoreSettings changed = this;
        for (Setting<?> setting : ALL) {
            changed = changed.with(setting, properties);
        }
        for (Setting<?> setting : MaintenanceSettings.ALL) {
            changed = changed.with(setting, properties);
        }
        return changed;
    }

    private <T> SemaphoreSettings with(Setting<T> setting, BiFunction<String, Class<?>, @Nullable Object> properties) {
        if (get(setting) instanceof PerSemaphore<?> each) {
            Object ofAll = properties.apply(setting.property(), each.byDefault().getClass());
            return ofAll == null ? this : with(setting, setting.type().cast(PerSemaphore.all(ofAll)));
        }
        Object value = properties.apply(setting.property(), setting.type());
        return value == null ? this : with(setting, setting.type().cast(value));
    }

    /**
     * Checks that the values are consistent with each other.
     *
     * @return these settings
     * @throws IllegalArgumentException if they are not
     */
    public SemaphoreSettings requireConsistent() {
        atMost(get(MAX_TTL), "requests without a TTL would be refused by semaphore.max-ttl")
                .accept(DEFAULT_TTL.property(), get(DEFAULT_TTL));
        atLeast(get(LOCK_WAIT_TIMEOUT), "the server would end transactions within semaphore.jdbc.lock-wait-timeout")
                .accept(SESSION_IDLE_LIMIT.property(), get(SESSION_IDLE_LIMIT));
        forEach(ON_FULL, this::requireMaxWaiting);
        forEach(WEIGHTS, (property, name, weights) -> {
            if (!weights.isEmpty()) {
                requireFair(property, "weights", name);
            }
        });
        forEach(MAX_WAITING_PER_SHARE, (property, name, most) -> requireFair(property, "max-waiting-per-share", name));
        return this;
    }

    private interface Check<T> {

        void accept(String property, String name, T value);
    }

    private <T> void forEach(Setting<PerSemaphore<T>> setting, Check<T> check) {
        get(setting).byName().forEach((name, value) -> check.accept("semaphore.semaphores." + name, name, value));
        get(setting)
                .byPattern()
                .forEach((glob, value) -> check.accept("semaphore.patterns.[" + glob + "]", glob, value));
    }

    private void requireFair(String property, String setting, String name) {
        PerSemaphore<Boolean> fair = get(FAIR);
        if (!fair.of(name)) {
            String refusing = fair.byName().containsKey(name)
                    ? property + ".fair"
                    : PerSemaphore.longestMatch(fair.byPattern(), name)
                            .map(pattern -> "semaphore.patterns.[" + pattern.getKey() + "].fair")
                            .orElse(FAIR.property());
            throw new IllegalArgumentException(
                    ("%s.%s is set, but %s is false: each instance has a queue of its own, in which no shares"
                                    + " are kept. Set fair to true, or remove %2$s")
                            .formatted(property, setting, refusing));
        }
    }

    private void requireMaxWaiting(String property, String name, OnFull onFull) {
        if (onFull == OnFull.KEEP_NEWEST
                && get(MAX_WAITING).of(name) == Integer.MAX_VALUE
                && get(MAX_WAITING_PER_SHARE).of(name) == Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    ("%s.on-full is keep-newest, but neither max-waiting nor max-waiting-per-share is set: any number of callers"
                                    + " could wait, and none would be refused. Set one of them, or remove on-full")
                            .formatted(property));
        }
    }

    @Override
    public String toString() {
        return "SemaphoreSettings" + values;
    }

    /** Checks the default and the value of each semaphore and pattern. A message names the property of that value. */
    private static <T> BiConsumer<String, PerSemaphore<T>> eachOf(BiConsumer<String, T> check) {
        return (property, values) -> {
            String attribute = property.substring(property.lastIndexOf('.') + 1);
            check.accept(property, values.byDefault());
            values.byName()
                    .forEach((name, value) ->
                            check.accept("semaphore.semaphores.%s.%s".formatted(name, attribute), value));
            values.byPattern()
                    .forEach((glob, value) ->
                            check.accept("semaphore.patterns.[%s].%s".formatted(glob, attribute), value));
        };
    }

    private static void requireValidPattern(String glob, int capacity) {
        String property = "semaphore.patterns[" + glob + "]";
        if (!glob.contains("*")) {
            throw new IllegalArgumentException(property + " has no *: declare a single semaphore under"
                    + " semaphore.semaphores, or put a * where names differ. A key with a * or other characters than letters,"
                    + " digits and dashes loses them unless it is in brackets, in YAML with quotes around them:"
                    + " semaphore.patterns.[" + glob + "*].capacity");
        }
        if (glob.replace("*", "").isEmpty()) {
            throw new IllegalArgumentException(
                    property + " would match every name, misspelled ones too: add a fixed part");
        }
        try {
            SemaphoreName.requireValid(glob);
        } catch (IllegalArgumentException invalid) {
            // without its cause: Spring Boot shows the last one, which does not name the property
            throw new IllegalArgumentException(property + " is malformed: " + invalid.getMessage());
        }
        if (capacity < 0) {
            throw new IllegalArgumentException(property + ".capacity must be at least 0: " + capacity);
        }
    }

    @SuppressWarnings("ConstantValue") // a property without a value is bound to null
    private static void requireValidWeight(String property, String share, Integer weight) {
        try {
            SemaphoreName.requireValidShare(share);
        } catch (IllegalArgumentException invalid) {
            // without its cause, as above
            throw new IllegalArgumentException(property + " is malformed: " + invalid.getMessage());
        }
        must(
                        "between 1 and 1000",
                        (Integer given) -> given != null && given >= 1 && given <= ShareWeights.MAX_WEIGHT,
                        "a share with a weight of 0 would wait forever")
                .accept(property, weight);
    }

    private static boolean isReuseTime(Duration time) {
        return time.isZero()
                || (time.compareTo(Duration.ofMillis(10)) >= 0 && time.compareTo(Duration.ofSeconds(10)) <= 0);
    }

    private static String nameOfJvm() {
        return "jvm-" + ManagementFactory.getRuntimeMXBean().getName();
    }
}
