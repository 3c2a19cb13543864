/**
 * The infrastructure of the persistence unit: Hibernate beside the host's own, short transactions, and the translation of
 * their failures. Independent of the entities.
 *
 * <p>Internal. Depends on {@code io.dbsemaphore.jdbc}.
 */
@NullMarked
package io.dbsemaphore.persistence.unit;

import org.jspecify.annotations.NullMarked;
