/** What a run has shown, as Markdown and as JUnit XML. */
@NullMarked
package io.dbsemaphore.samples.faults.report;

import org.jspecify.annotations.NullMarked;
