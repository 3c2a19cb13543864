/** The oracle: events that clients and attacks report, and the checks that find contradictions to the promises of the library. */
@NullMarked
package io.dbsemaphore.samples.faults.oracle;

import org.jspecify.annotations.NullMarked;
