package io.dbsemaphore.config;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * One setting: its property, the type of its value, its default and its bounds. The settings are constants of {@link SemaphoreSettings} and
 * {@link MaintenanceSettings}, as socket options are constants of {@link java.net.StandardSocketOptions}. Properties, defaults and bounds
 * are written in these two classes only: {@link SemaphoreSettings#withProperties} binds them.
 *
 * @param <T> the type of its value
 */
public final class Setting<T> {

    private final String property;
    private final Class<T> type;
    private final Function<Function<Setting<T>, T>, T> byDefault;
    private final List<BiConsumer<String, T>> checks = new ArrayList<>();

    private Setting(String property, Class<T> type, Function<Function<Setting<T>, T>, T> byDefault) {
        this.property = property;
        this.type = type;
        this.byDefault = byDefault;
    }

    /** A setting that has properties for single semaphores only. */
    @SuppressWarnings("unchecked") // the class of a T
    static <T> Setting<T> of(String property, T byDefault) {
        return new Setting<>(property, (Class<T>) byDefault.getClass(), others -> byDefault);
    }

    /** A setting with a property of its own. */
    static <T> Setting<T> of(List<Setting<?>> all, String property, T byDefault) {
        return of(property, byDefault).in(all);
    }

    /** A setting whose default is expensive to compute, or depends on other settings. */
    static <T> Setting<T> of(
            List<Setting<?>> all, String property, Class<T> type, Function<Function<Setting<T>, T>, T> byDefault) {
        return new Setting<>(property, type, byDefault).in(all);
    }

    private Setting<T> in(List<Setting<?>> all) {
        all.add(this);
        return this;
    }

    /** Adds a bound. Called only where the constant is declared. */
    Setting<T> where(BiConsumer<String, T> check) {
        checks.add(check);
        return this;
    }

    /** {@return the property that sets it in an application with the starter} */
    public String property() {
        return property;
    }

    @Override
    public String toString() {
        return property;
    }

    Class<T> type() {
        return type;
    }

    /** @param others finds the value of another setting */
    T byDefault(Function<Setting<T>, T> others) {
        return byDefault.apply(others);
    }

    void check(T value) {
        checks.forEach(check -> check.accept(property, value));
    }

    /** A check whose message names the bound, and the consequence of another value. */
    static <T> BiConsumer<String, T> must(String bound, Predicate<T> holds, String otherwise) {
        return (property, value) -> {
            if (!holds.test(value)) {
                throw new IllegalArgumentException(
                        "%s must be %s, but is %s: %s".formatted(property, bound, value, otherwise));
            }
        };
    }

    static <T extends Comparable<T>> BiConsumer<String, T> atLeast(T bound, String otherwise) {
        return must("at least " + bound, value -> value.compareTo(bound) >= 0, otherwise);
    }

    static <T extends Comparable<T>> BiConsumer<String, T> atMost(T bound, String otherwise) {
        return must("at most " + bound, value -> value.compareTo(bound) <= 0, otherwise);
    }
}
