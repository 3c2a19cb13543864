package io.dbsemaphore.samples.benchmark.throughput;

import java.io.Serializable;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one round of one contestant gave.
 *
 * @param length how long the round was
 * @param pairs acquires and their releases that were done when the round was over
 * @param acquires how long each acquire took, also those that came too late to count
 * @param connections the most that were in use at the same time
 * @param failures acquires and releases that threw
 * @param failure the first of them
 */
public record Measurement(
        Duration length,
        long pairs,
        Samples acquires,
        int connections,
        long failures,
        @Nullable String failure) implements Serializable {

    /** Pairs in a second. */
    public double pairsPerSecond() {
        return pairs * 1e9 / length.toNanos();
    }

    /** Those of workers that ran at the same time, as one. */
    static Measurement sum(Collection<Measurement> parts) {
        return parts.stream()
                .reduce((one, other) -> new Measurement(
                        one.length,
                        one.pairs + other.pairs,
                        Samples.merge(List.of(one.acquires, other.acquires)),
                        one.connections + other.connections,
                        one.failures + other.failures,
                        one.failure == null ? other.failure : one.failure))
                .orElseThrow();
    }
}
