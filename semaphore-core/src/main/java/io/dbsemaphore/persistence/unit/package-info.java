/**
 * The infrastructure of the persistence unit: the library's own Hibernate, short transactions, their repetition, and the
 * translation of their failures. Refers to no entity class.
 *
 * <p>Internal. Depends on {@code io.dbsemaphore.jdbc} and {@code io.dbsemaphore.concurrent}.
 */
@NullMarked
package io.dbsemaphore.persistence.unit;

import org.jspecify.annotations.NullMarked;
