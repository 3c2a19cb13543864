/**
 * What {@link io.dbsemaphore.annotation.WithPermits} does: one advisor, whose pointcut checks every annotated method when
 * its bean is created, and whose interceptor hands each call to the guard that was made for the method. A guard acquires,
 * calls and releases as the return type demands: on the calling thread, when a future completes, or per subscription.
 *
 * <p>Depends on the public contract, the annotation and {@code io.dbsemaphore.concurrent}. Reactor is optional:
 * only {@code ReactiveGuard} and {@code Lease} refer to it, and they are loaded only where it is present.
 */
@NullMarked
package io.dbsemaphore.aop;

import org.jspecify.annotations.NullMarked;
