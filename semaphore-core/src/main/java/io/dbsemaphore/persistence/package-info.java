/**
 * The tables, every transaction on them, and the {@linkplain io.dbsemaphore.persistence.HeldCheck check} in the application's own
 * transaction. Entities and repositories do not leave this package: callers use one class for each kind of transaction, such as
 * {@link io.dbsemaphore.persistence.BatchTransaction}, and exchange values with it.
 *
 * <p>Internal. Depends on {@code io.dbsemaphore.persistence.unit}, on {@code io.dbsemaphore.domain}, on the contract's values and
 * exceptions, on {@code io.dbsemaphore.jdbc} and on {@code io.dbsemaphore.concurrent}.
 */
@NullMarked
package io.dbsemaphore.persistence;

import org.jspecify.annotations.NullMarked;
