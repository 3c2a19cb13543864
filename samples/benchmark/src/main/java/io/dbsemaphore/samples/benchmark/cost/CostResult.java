package io.dbsemaphore.samples.benchmark.cost;

import io.dbsemaphore.samples.benchmark.throughput.Percentiles;

/**
 * What a lone acquire costs where there is so much of something.
 *
 * @param size of how much
 * @param variant the same in words
 * @param p50 the median of the rounds' medians, in milliseconds
 * @param acquire over all rounds
 */
public record CostResult(Cost.Kind kind, long size, String variant, double p50, Percentiles acquire) {}
