package io.dbsemaphore.config;

import io.dbsemaphore.admin.SemaphoreName;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The semaphores that may be created on first use: globs such as {@code tenant:*}, each with the capacity of the semaphores
 * that it creates. If several match, the longest counts. Immutable. An invalid glob or number causes an
 * {@link IllegalArgumentException} that names its property.
 *
 * @param capacities the capacity for each glob
 * @param maxSemaphores the maximum number of semaphores that the patterns may create in total, by default 1000
 */
public record SemaphorePatterns(Map<String, Integer> capacities, int maxSemaphores) {

    /** No pattern: an unknown name is an error. */
    public static final SemaphorePatterns NONE = new SemaphorePatterns(Map.of(), 1000);

    /**
     * A pattern that matches a name.
     *
     * @param pattern the glob
     * @param capacity the capacity of the semaphores that it creates
     */
    public record Match(String pattern, int capacity) {}

    /**
     * Checks the patterns and numbers.
     *
     * @param capacities the capacity for each pattern
     * @param maxSemaphores how many semaphores the patterns may create in total
     * @throws IllegalArgumentException if a pattern or a number is invalid
     */
    public SemaphorePatterns {
        capacities = Map.copyOf(capacities);
        capacities.forEach(SemaphorePatterns::check);
        Setting.atLeast(1, "the patterns could not create any")
                .accept("semaphore.max-pattern-semaphores", maxSemaphores);
    }

    /**
     * Adds a pattern.
     *
     * @param pattern the pattern, with at least one {@code *}
     * @param capacity the capacity of the semaphores that it creates, at least 0
     * @return the changed patterns
     * @throws IllegalArgumentException if the pattern or the capacity is invalid
     */
    public SemaphorePatterns withPattern(String pattern, int capacity) {
        Map<String, Integer> more = new HashMap<>(capacities);
        more.put(pattern, capacity);
        return new SemaphorePatterns(more, maxSemaphores);
    }

    /**
     * Sets how many semaphores the patterns may create in total.
     *
     * @param value the number, at least 1
     * @return the changed patterns
     * @throws IllegalArgumentException if the number is less than 1
     */
    public SemaphorePatterns withMaxSemaphores(int value) {
        return new SemaphorePatterns(capacities, value);
    }

    /**
     * Finds the pattern that a semaphore would be created by; of several that match, the longest.
     *
     * @param name the name of the semaphore
     * @return the pattern; empty if none matches
     */
    public Optional<Match> match(String name) {
        return PerSemaphore.longestMatch(capacities, name)
                .map(longest -> new Match(longest.getKey(), longest.getValue()));
    }

    private static void check(String pattern, int capacity) {
        String property = "semaphore.patterns[" + pattern + "]";
        if (!pattern.contains("*")) {
            throw new IllegalArgumentException(property + " has no *: declare a single semaphore under"
                    + " semaphore.semaphores, or put a * where names differ. A key with a * or other characters than letters,"
                    + " digits and dashes loses them unless it is in brackets, in YAML with quotes around them:"
                    + " semaphore.patterns.[" + pattern + "*].capacity");
        }
        if (pattern.replace("*", "").isEmpty()) {
            throw new IllegalArgumentException(
                    property + " would match every name, misspelled ones too: add a fixed part");
        }
        try {
            SemaphoreName.requireValid(pattern);
        } catch (IllegalArgumentException invalid) {
            // without its cause: Spring Boot shows the last one, which does not name the property
            throw new IllegalArgumentException(property + " is malformed: " + invalid.getMessage());
        }
        if (capacity < 0) {
            throw new IllegalArgumentException(property + ".capacity must be at least 0: " + capacity);
        }
    }
}
