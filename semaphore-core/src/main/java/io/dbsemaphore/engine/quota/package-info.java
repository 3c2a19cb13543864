/**
 * Quotas: permits that the callers of this JVM use one after the other without a transaction, where reuse is configured. The
 * database counts them as held meanwhile. {@code Quotas} in {@code engine} hands them out and has them confirmed.
 *
 * <p>Internal. Depends on {@code engine.hold} and the domain.
 */
@NullMarked
package io.dbsemaphore.engine.quota;

import org.jspecify.annotations.NullMarked;
