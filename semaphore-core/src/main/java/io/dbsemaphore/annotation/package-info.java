/**
 * The annotation {@link io.dbsemaphore.annotation.WithPermits}. It is metadata only; package {@code io.dbsemaphore.aop}
 * implements it.
 *
 * <p>Public API. Depends on the contract in {@code io.dbsemaphore}, and on no other package of this library.
 */
@NullMarked
package io.dbsemaphore.annotation;

import org.jspecify.annotations.NullMarked;
