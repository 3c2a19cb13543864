/** What a run has shown, as Markdown and as JUnit XML. */
@NullMarked
package io.dbsemaphore.tools.faults.report;

import org.jspecify.annotations.NullMarked;
