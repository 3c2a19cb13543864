/**
 * The public contract: requests ({@link io.dbsemaphore.AcquireRequest}), operations
 * ({@link io.dbsemaphore.SemaphoreOperations}, {@link io.dbsemaphore.admin.SemaphoreAdmin}), grants
 * ({@link io.dbsemaphore.PermitGrant}) and exceptions ({@link io.dbsemaphore.SemaphoreException}).
 *
 * <p>Public API. Does not depend on any other package of this library, and reaches the engine through
 * {@link io.dbsemaphore.spi.PermitManager} only.
 */
@NullMarked
package io.dbsemaphore;

import org.jspecify.annotations.NullMarked;
