package io.dbsemaphore.tools.benchmark.approach;

/**
 * What a scenario demands of the approaches.
 *
 * @param reuse whether the library reuses permits
 * @param waiting whether threads wait for permits, since there are fewer than threads
 */
public record Demands(boolean reuse, boolean waiting) {}
