/**
 * What this JVM holds: the handles that callers have, the keep-alive that renews them, the heartbeat of this instance, and
 * the check that a business transaction makes.
 *
 * <p>Internal. Depends on {@code engine.support}, on persistence and on the domain.
 */
@NullMarked
package io.dbsemaphore.engine.hold;

import org.jspecify.annotations.NullMarked;
