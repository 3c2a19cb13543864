/**
 * What has to be said to a database below JPA: which one it is and where it differs ({@link io.dbsemaphore.jdbc.Database}),
 * what its errors mean ({@link io.dbsemaphore.jdbc.SqlErrors}), and the session that a short locking transaction needs
 * ({@link io.dbsemaphore.jdbc.SemaphoreDataSource}).
 *
 * <p>Internal. Depends on {@code io.dbsemaphore.concurrent} only.
 */
@NullMarked
package io.dbsemaphore.jdbc;

import org.jspecify.annotations.NullMarked;
