/**
 * The threads of the library. All work that does not run on the caller's thread runs on a thread created by
 * {@link io.dbsemaphore.concurrent.DaemonThreads}. Also the time until which a thread waits, and its pauses between attempts.
 *
 * <p>Internal. Depends on no other package of this library.
 */
@NullMarked
package io.dbsemaphore.concurrent;

import org.jspecify.annotations.NullMarked;
