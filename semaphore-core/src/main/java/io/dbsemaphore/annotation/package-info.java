/**
 * The annotation that puts a method under semaphores: metadata, and nothing else. What it means is done by the package
 * {@code io.dbsemaphore.aop}.
 *
 * <p>Depends on the public contract in {@code io.dbsemaphore}, and on no other package of this library.
 */
@NullMarked
package io.dbsemaphore.annotation;

import org.jspecify.annotations.NullMarked;
