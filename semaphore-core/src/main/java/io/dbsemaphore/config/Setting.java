package io.dbsemaphore.config;

import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One setting: its property, its default and its bounds. The settings are the constants of {@link SemaphoreSettings} and
 * {@link MaintenanceSettings}, as socket options are those of {@link java.net.StandardSocketOptions}.
 *
 * @param <T> the type of its value
 */
public final class Setting<T> {

    private final String property;
    private final Supplier<T> byDefault;
    private final @Nullable Setting<T> fallback;
    private final List<Check<T>> checks;

    /** What a value must satisfy. */
    @FunctionalInterface
    interface Check<T> {

        void check(String property, T value);
    }

    @SafeVarargs
    @SuppressWarnings("varargs") // they are copied
    Setting(String property, T byDefault, Check<T>... checks) {
        this(property, () -> byDefault, null, List.of(checks));
    }

    /** A setting whose default is expensive. */
    Setting(String property, Supplier<T> byDefault, Check<T> check) {
        this(property, byDefault, null, List.of(check));
    }

    /** A setting that has, unless it is set, the value of another one. */
    Setting(String property, Setting<T> fallback, Check<T> check) {
        this(property, fallback.byDefault, fallback, List.of(check));
    }

    private Setting(String property, Supplier<T> byDefault, @Nullable Setting<T> fallback, List<Check<T>> checks) {
        this.property = property;
        this.byDefault = byDefault;
        this.fallback = fallback;
        this.checks = checks;
    }

    /** {@return the property that sets it in an application with the starter} */
    public String property() {
        return property;
    }

    @Override
    public String toString() {
        return property;
    }

    T byDefault() {
        return byDefault.get();
    }

    /** The setting whose value this one has unless it is set. */
    @Nullable Setting<T> fallback() {
        return fallback;
    }

    void check(T value) {
        checks.forEach(check -> check.check(property, value));
    }

    /** A check that says the bound, and what would happen with another value. */
    static <T> Check<T> must(String bound, Predicate<T> holds, String otherwise) {
        return (property, value) -> {
            if (!holds.test(value)) {
                throw new IllegalArgumentException(
                        "%s must be %s, but is %s: %s".formatted(property, bound, value, otherwise));
            }
        };
    }

    static <T extends Comparable<T>> Check<T> atLeast(T bound, String otherwise) {
        return must("at least " + bound, value -> value.compareTo(bound) >= 0, otherwise);
    }

    static <T extends Comparable<T>> Check<T> atMost(T bound, String otherwise) {
        return must("at most " + bound, value -> value.compareTo(bound) <= 0, otherwise);
    }
}
