package io.dbsemaphore.samples.benchmark;

import java.io.Serializable;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * One round of one case.
 *
 * @param length how long the round was
 * @param pairs acquires with their releases that were done when the round ended
 * @param acquireNanos how long each acquire took, also of pairs that ended too late to count
 * @param connections the most connections that were seen in use at the same time
 * @param failures acquires and releases that threw
 * @param failure the first of them
 */
record Measurement(
        Duration length,
        long pairs,
        long[] acquireNanos,
        int connections,
        long failures,
        @Nullable String failure) implements Serializable {

    double pairsPerSecond() {
        return pairs * 1e9 / length.toNanos();
    }

    /** The time that this percentage of the acquires did not exceed, in milliseconds; NaN where there are none. */
    double acquireMillis(int percentage) {
        long[] sorted = acquireNanos.clone();
        Arrays.sort(sorted);
        return sorted.length == 0
                ? Double.NaN
                : sorted[(int) Math.ceil(sorted.length * (percentage / 100.0)) - 1] / 1e6;
    }

    /** Those of threads or JVMs that ran at the same time, as one. */
    static Measurement sum(Collection<Measurement> parts) {
        Measurement any = parts.iterator().next();
        return new Measurement(
                any.length,
                parts.stream().mapToLong(Measurement::pairs).sum(),
                parts.stream()
                        .flatMapToLong(part -> LongStream.of(part.acquireNanos))
                        .toArray(),
                parts.stream().mapToInt(Measurement::connections).sum(),
                parts.stream().mapToLong(Measurement::failures).sum(),
                parts.stream()
                        .map(Measurement::failure)
                        .filter(failure -> failure != null)
                        .findFirst()
                        .orElse(null));
    }
}
