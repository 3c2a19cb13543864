/**
 * Reuse: permits that callers of this JVM have released are kept for a short time for the next one, without a transaction. The
 * database counts them as held meanwhile. {@link io.dbsemaphore.engine.reuse.ReusablePermits} has all the state.
 *
 * <p>Internal. Depends on {@code engine.hold}, {@code engine.support}, {@code config}, {@code concurrent} and the domain.
 */
@NullMarked
package io.dbsemaphore.engine.reuse;

import org.jspecify.annotations.NullMarked;
