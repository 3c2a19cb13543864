/** How fast many threads acquire and release, in one JVM or two; the contestants take turns. */
@NullMarked
package io.dbsemaphore.samples.benchmark.throughput;

import org.jspecify.annotations.NullMarked;
