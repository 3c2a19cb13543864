package io.dbsemaphore.config;

import io.dbsemaphore.SemaphoreName;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.springframework.util.PatternMatchUtils;

/**
 * Which semaphores may be made on first use: globs such as {@code tenant:*}, each with the capacity of what it makes. Of
 * several that match, the longest counts.
 */
public final class SemaphorePatterns {

    /** No pattern: an unknown name is an error. */
    public static final SemaphorePatterns NONE = new SemaphorePatterns(Map.of(), 0);

    private final SortedMap<String, Integer> capacities =
            new TreeMap<>(Comparator.comparing(String::length).reversed().thenComparing(Comparator.naturalOrder()));
    private final long maxSemaphores;

    /** A pattern that matches a name. */
    public record Match(String pattern, int capacity) {}

    /**
     * Creates the patterns.
     *
     * @param capacities the capacity for each glob
     * @param maxSemaphores how many semaphores they may make in all
     * @throws IllegalArgumentException when one is malformed, naming its property
     */
    public SemaphorePatterns(Map<String, Integer> capacities, long maxSemaphores) {
        capacities.forEach(SemaphorePatterns::check);
        this.capacities.putAll(capacities);
        this.maxSemaphores = maxSemaphores;
        if (maxSemaphores < (capacities.isEmpty() ? 0 : 1)) {
            throw new IllegalArgumentException("semaphore.max-pattern-semaphores must be positive: " + maxSemaphores);
        }
    }

    public long maxSemaphores() {
        return maxSemaphores;
    }

    /** The glob by which a semaphore of this name would be made. */
    public Optional<String> patternOf(String name) {
        return match(name).map(Match::pattern);
    }

    public Optional<Match> match(String name) {
        return capacities.entrySet().stream()
                .filter(pattern -> PatternMatchUtils.simpleMatch(pattern.getKey(), name))
                .findFirst()
                .map(pattern -> new Match(pattern.getKey(), pattern.getValue()));
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
                    property + " would match every name, misspelt ones too: give it something that is fixed");
        }
        try {
            SemaphoreName.requireValid(pattern);
        } catch (IllegalArgumentException invalid) {
            // Without its cause: Spring Boot shows the last one, which knows nothing of the property
            throw new IllegalArgumentException(property + " is malformed: " + invalid.getMessage());
        }
        if (capacity < 0) {
            throw new IllegalArgumentException(property + ".capacity must be at least 0: " + capacity);
        }
    }
}
