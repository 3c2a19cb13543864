package io.dbsemaphore.tools.faults.attack;

import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What the mean times between attacks are multiplied with.
 *
 * @param general for all attacks
 * @param exceptions for some, by their names as options
 */
public record Pace(double general, Map<String, Double> exceptions) {

    /** Parses a number, and exceptions from it, as in {@code 1.3,client-killed=0.5}. */
    public static Pace parse(String text) {
        String[] parts = text.split(",");
        Map<String, Double> exceptions = Arrays.stream(parts)
                .skip(1)
                .map(part -> part.split("=", 2))
                .collect(Collectors.toMap(part -> part[0], part -> Double.valueOf(part[part.length - 1])));
        return new Pace(Double.parseDouble(parts[0]), exceptions);
    }

    double of(String attack) {
        return exceptions.getOrDefault(attack, general);
    }
}
