/**
 * The grants that this JVM holds: their handles, the keep-alive that renews them, the heartbeat of this instance, and the check
 * in a business transaction.
 *
 * <p>Internal. Depends on {@code engine.support}, on persistence, {@code jdbc}, {@code concurrent} and the domain.
 */
@NullMarked
package io.dbsemaphore.engine.hold;

import org.jspecify.annotations.NullMarked;
