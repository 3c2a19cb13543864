/**
 * The engine: how a permit is acquired and released, from the caller's request to its answer. The packages below it have
 * one task each: {@code batch} lets callers share a transaction, {@code hold} looks after what this JVM holds,
 * {@code maintenance} cleans up, {@code support} has what all of them need. What a transaction does is in
 * {@code io.dbsemaphore.persistence}.
 *
 * <p>{@link io.dbsemaphore.engine.SemaphoreEngine} and the exceptions are public API; all else is internal.
 */
@NullMarked
package io.dbsemaphore.engine;

import org.jspecify.annotations.NullMarked;
