/**
 * Quotas: if reuse is configured, the callers of this JVM use permits one after the other without a transaction. The database
 * counts these permits as held.
 *
 * <p>Internal. Depends on {@code engine.batch} and {@code engine.hold}, on persistence, {@code concurrent} and the domain.
 */
@NullMarked
package io.dbsemaphore.engine.quota;

import org.jspecify.annotations.NullMarked;
