/** What is measured: one class for each way to acquire and release. Depends on {@code database} only. */
@NullMarked
package io.dbsemaphore.samples.benchmark.contestant;

import org.jspecify.annotations.NullMarked;
