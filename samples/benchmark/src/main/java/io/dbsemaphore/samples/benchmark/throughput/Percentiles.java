package io.dbsemaphore.samples.benchmark.throughput;

import java.util.Arrays;

/**
 * Percentiles of durations, in milliseconds.
 *
 * @param count of how many
 */
public record Percentiles(int count, double p50, double p99) {

    /** Of these nanoseconds, in any order; NaN where there are none. */
    static Percentiles of(long[] nanos) {
        long[] sorted = nanos.clone();
        Arrays.sort(sorted);
        return new Percentiles(sorted.length, at(sorted, 0.5), at(sorted, 0.99));
    }

    private static double at(long[] sorted, double share) {
        if (sorted.length == 0) {
            return Double.NaN;
        }
        int index = (int) Math.ceil(sorted.length * share) - 1;
        return sorted[index] / 1e6;
    }
}
