package io.dbsemaphore.config;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.springframework.util.PatternMatchUtils;

/**
 * A value that may differ from semaphore to semaphore: the value for its name, else for the longest matching pattern, else the default.
 * Immutable.
 *
 * @param <T> the type of the value
 * @param byDefault the value of all other semaphores
 * @param byName the values of single semaphores
 * @param byPattern the values of patterns such as {@code tenant:*}
 */
public record PerSemaphore<T>(T byDefault, Map<String, T> byName, Map<String, T> byPattern) {

    private static final Comparator<Map.Entry<String, ?>> LONGEST_FIRST = Comparator.<Map.Entry<String, ?>>comparingInt(
                    pattern -> -pattern.getKey().length())
            .thenComparing(Map.Entry::getKey);

    /**
     * Makes defensive copies.
     *
     * @param byDefault the value of all others
     * @param byName the values of single semaphores
     * @param byPattern the values of patterns
     */
    public PerSemaphore {
        byName = Map.copyOf(byName);
        byPattern = Map.copyOf(byPattern);
    }

    /**
     * Uses the same value for all semaphores.
     *
     * @param <T> the type of the value
     * @param value the value
     * @return the values
     */
    public static <T> PerSemaphore<T> all(T value) {
        return new PerSemaphore<>(value, Map.of(), Map.of());
    }

    /**
     * Sets the value of one semaphore, or of a pattern.
     *
     * @param name the name, or a pattern with at least one {@code *}
     * @param value the value
     * @return the changed values
     */
    public PerSemaphore<T> with(String name, T value) {
        boolean isPattern = name.contains("*");
        Map<String, T> changed = new HashMap<>(isPattern ? byPattern : byName);
        changed.put(name, value);
        return new PerSemaphore<>(byDefault, isPattern ? byName : changed, isPattern ? changed : byPattern);
    }

    /**
     * Finds the value of a semaphore.
     *
     * @param name its name
     * @return the value
     */
    public T of(String name) {
        T own = byName.get(name);
        return own != null ? own : ofPattern(name);
    }

    /**
     * Lists all values.
     *
     * @return the default, and the values of names and patterns
     */
    public Collection<T> values() {
        List<T> values = new ArrayList<>(byName.values());
        values.addAll(byPattern.values());
        values.add(byDefault);
        return values;
    }

    private T ofPattern(String name) {
        return byPattern.isEmpty()
                ? byDefault
                : longestMatch(byPattern, name).map(Map.Entry::getValue).orElse(byDefault);
    }

    /** The longest pattern that matches a name, with its value. */
    static <V> Optional<Map.Entry<String, V>> longestMatch(Map<String, V> byPattern, String name) {
        return byPattern.entrySet().stream()
                .filter(pattern -> PatternMatchUtils.simpleMatch(pattern.getKey(), name))
                .min(LONGEST_FIRST);
    }
}
