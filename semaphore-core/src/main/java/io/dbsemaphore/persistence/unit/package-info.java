/**
 * The persistence unit: how Hibernate is started beside the host's, how a short transaction runs, and how its failures are
 * told. Knows no entity.
 *
 * <p>Internal. Depends on {@code io.dbsemaphore.jdbc}.
 */
@NullMarked
package io.dbsemaphore.persistence.unit;

import org.jspecify.annotations.NullMarked;
