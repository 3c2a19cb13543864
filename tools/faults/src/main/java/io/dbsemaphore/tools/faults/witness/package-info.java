/** The second witness: the server's log, replayed commit by commit. */
@NullMarked
package io.dbsemaphore.tools.faults.witness;

import org.jspecify.annotations.NullMarked;
