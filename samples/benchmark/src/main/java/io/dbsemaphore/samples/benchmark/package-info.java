/**
 * The benchmark: this library beside other ways to limit concurrency with a database, on the same machine at the same
 * time. Here is what starts and orders it; {@code throughput} and {@code cost} measure, {@code report} shows.
 */
@NullMarked
package io.dbsemaphore.samples.benchmark;

import org.jspecify.annotations.NullMarked;
