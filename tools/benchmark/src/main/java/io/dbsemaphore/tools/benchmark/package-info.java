/**
 * The benchmark: this library beside other ways to limit concurrency with a database, and beside an earlier build of its
 * own, on the same machine in turn. {@code Benchmark} is one run, {@code Scenario} says what is measured, {@code Turns}
 * directs the measuring JVMs, {@code Report} shows the results, and {@code Picture} draws those of README.md. What is
 * measured is in {@code approach}.
 */
@NullMarked
package io.dbsemaphore.tools.benchmark;

import org.jspecify.annotations.NullMarked;
