/**
 * The public contract: requests ({@link io.dbsemaphore.AcquireRequest}), operations ({@link io.dbsemaphore.SemaphoreOperations}), grants
 * ({@link io.dbsemaphore.PermitGrant}) and exceptions ({@link io.dbsemaphore.SemaphoreException}). The types for operators are in
 * {@code io.dbsemaphore.admin}, those for extensions in {@code io.dbsemaphore.spi}; the three packages are the contract.
 *
 * <p>Public API. The contract does not depend on any other package of this library, and reaches the engine through
 * {@link io.dbsemaphore.spi.PermitManager} only.
 */
@NullMarked
package io.dbsemaphore;

import org.jspecify.annotations.NullMarked;
