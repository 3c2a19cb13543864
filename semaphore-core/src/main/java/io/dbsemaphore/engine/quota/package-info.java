/**
 * Quotas: if reuse is configured, the callers of this JVM use permits one after the other without a transaction. The database
 * counts these permits as held. {@code Quotas} in {@code engine} hands them out and has them confirmed.
 *
 * <p>Internal. Depends on {@code engine.hold} and the domain.
 */
@NullMarked
package io.dbsemaphore.engine.quota;

import org.jspecify.annotations.NullMarked;
