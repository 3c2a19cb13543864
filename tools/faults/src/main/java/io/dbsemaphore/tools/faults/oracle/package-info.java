/** The oracle: events that clients and attacks report, and the checks that find contradictions to the promises of the library. */
@NullMarked
package io.dbsemaphore.tools.faults.oracle;

import org.jspecify.annotations.NullMarked;
