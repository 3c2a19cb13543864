/**
 * The line of callers that wait for the permits of a semaphore, across all instances: {@linkplain io.dbsemaphore.line.Place who comes
 * first}, and {@linkplain io.dbsemaphore.line.Admission who may go now}. Pure values and functions, which the queue of this JVM and the
 * transactions share. Nothing here uses a database, a thread or another package of the library.
 *
 * <p>Internal.
 */
@NullMarked
package io.dbsemaphore.line;

import org.jspecify.annotations.NullMarked;
