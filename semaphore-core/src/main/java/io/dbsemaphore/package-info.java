/**
 * The public contract: requests ({@link io.dbsemaphore.AcquireRequest}), operations ({@link io.dbsemaphore.SemaphoreOperations}), grants
 * ({@link io.dbsemaphore.PermitGrant}) and exceptions ({@link io.dbsemaphore.SemaphoreException}). The contract also includes
 * {@code io.dbsemaphore.admin}, for operators, and {@code io.dbsemaphore.spi}, for extensions.
 *
 * <p>Public API. The contract does not depend on any other package of this library, and reaches the engine through
 * {@link io.dbsemaphore.spi.PermitManager} only.
 */
@NullMarked
package io.dbsemaphore;

import org.jspecify.annotations.NullMarked;
