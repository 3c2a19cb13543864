/** What is measured: one class for each way to acquire and release, and the database that they share. */
@NullMarked
package io.dbsemaphore.tools.benchmark.approach;

import org.jspecify.annotations.NullMarked;
