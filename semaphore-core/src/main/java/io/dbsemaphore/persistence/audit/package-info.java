/**
 * The audit of capacity changes, forced releases and reclaims.
 *
 * <p>Internal. Depends on {@code io.dbsemaphore.domain} and on {@code io.dbsemaphore.persistence.unit}.
 */
@NullMarked
package io.dbsemaphore.persistence.audit;

import org.jspecify.annotations.NullMarked;
