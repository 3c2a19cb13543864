/**
 * The rows by which the instances tell one another who waits for permits, so that the callers of all instances are served in one
 * order.
 *
 * <p>Internal. Depends on {@code io.dbsemaphore.domain} and on {@code io.dbsemaphore.persistence.unit}.
 */
@NullMarked
package io.dbsemaphore.persistence.waiting;

import org.jspecify.annotations.NullMarked;
