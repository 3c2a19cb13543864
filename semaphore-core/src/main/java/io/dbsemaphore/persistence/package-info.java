/**
 * The tables, and every transaction on them: entities and repositories that never leave this package, and one class for
 * each transaction, of which {@link io.dbsemaphore.persistence.GrantTransaction} is the heart. What goes in and comes
 * out are values.
 *
 * <p>Internal. Depends on the contract's values and exceptions and on {@code io.dbsemaphore.jdbc}.
 */
@NullMarked
package io.dbsemaphore.persistence;

import org.jspecify.annotations.NullMarked;
