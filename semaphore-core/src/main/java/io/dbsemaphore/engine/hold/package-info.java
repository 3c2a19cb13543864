/**
 * The grants that this JVM holds: their handles, the keep-alive that renews them, and the heartbeat of this
 * instance.
 *
 * <p>Internal. Depends on persistence, {@code jdbc}, {@code concurrent} and the domain.
 */
@NullMarked
package io.dbsemaphore.engine.hold;

import org.jspecify.annotations.NullMarked;
