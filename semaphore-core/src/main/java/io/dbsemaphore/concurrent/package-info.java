/**
 * The threads of the library. All work that does not run on the caller's thread runs on a thread created by
 * {@link io.dbsemaphore.concurrent.DaemonThreads}. Also has the deadlines of waiting threads, and the pauses between attempts.
 *
 * <p>Internal. Depends on no other package of this library.
 */
@NullMarked
package io.dbsemaphore.concurrent;

import org.jspecify.annotations.NullMarked;
