/**
 * Database access below JPA: the differences between the databases ({@link io.dbsemaphore.jdbc.Database}), the meaning of
 * their errors ({@link io.dbsemaphore.jdbc.SqlErrors}), and sessions for short locking transactions
 * ({@link io.dbsemaphore.jdbc.Sessions}).
 *
 * <p>Internal. Depends on {@code io.dbsemaphore.concurrent} only.
 */
@NullMarked
package io.dbsemaphore.jdbc;

import org.jspecify.annotations.NullMarked;
