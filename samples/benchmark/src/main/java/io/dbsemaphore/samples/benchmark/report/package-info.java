/** What was measured as tables, bars, files and pictures. Measures nothing. */
@NullMarked
package io.dbsemaphore.samples.benchmark.report;

import org.jspecify.annotations.NullMarked;
