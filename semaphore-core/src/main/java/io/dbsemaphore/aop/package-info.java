/**
 * Implements {@link io.dbsemaphore.annotation.WithPermits}. The pointcut of an advisor checks every annotated method when its
 * bean is created. Its advice delegates each call to the guard of the method, which depends on the return type: a guard
 * releases when the method returns, when a future completes, or at the end of each subscription.
 *
 * <p>Depends on the public contract, the annotation and {@code io.dbsemaphore.concurrent}. Reactor is optional: only
 * {@code ReactiveGuard} refers to it, and is loaded only if Reactor is present.
 *
 * <p>{@link io.dbsemaphore.aop.WithPermitsAdvisor} and {@link io.dbsemaphore.aop.UnguardableMethodException} are public API; all
 * else is internal.
 */
@NullMarked
package io.dbsemaphore.aop;

import org.jspecify.annotations.NullMarked;
