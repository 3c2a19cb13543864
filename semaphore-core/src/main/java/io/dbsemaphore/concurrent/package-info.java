/**
 * The threads of the library. Everything that the library does beside its callers runs on a thread that
 * {@link io.dbsemaphore.concurrent.DaemonThreads} has made.
 *
 * <p>Internal. Depends on no other package of this library.
 */
@NullMarked
package io.dbsemaphore.concurrent;

import org.jspecify.annotations.NullMarked;
