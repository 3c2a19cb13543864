/**
 * Implements {@link io.dbsemaphore.annotation.WithPermits}: an advisor whose pointcut checks every annotated method when
 * its bean is created, and whose advice delegates each call to the guard of the method. Depending on the
 * return type, a guard acquires and releases on the calling thread, when a future completes, or for each subscription.
 *
 * <p>Depends on the public contract, the annotation and {@code io.dbsemaphore.concurrent}. Reactor is optional: only
 * {@code ReactiveGuard} refers to it, and is loaded only if it is present.
 *
 * <p>{@link io.dbsemaphore.aop.WithPermitsAdvisor} and {@link io.dbsemaphore.aop.UnguardableMethodException} are public API; all
 * else is internal.
 */
@NullMarked
package io.dbsemaphore.aop;

import org.jspecify.annotations.NullMarked;
