/**
 * The public contract, and nothing else: what a caller asks for ({@link io.dbsemaphore.AcquireRequest}), what it asks
 * ({@link io.dbsemaphore.SemaphoreOperations}, {@link io.dbsemaphore.SemaphoreAdmin}), what it gets
 * ({@link io.dbsemaphore.PermitGrant}) and what can go wrong ({@link io.dbsemaphore.SemaphoreException}).
 *
 * <p>Depends on no other package of this library. The engine behind it is reached through
 * {@link io.dbsemaphore.PermitManager} only.
 */
@NullMarked
package io.dbsemaphore;

import org.jspecify.annotations.NullMarked;
