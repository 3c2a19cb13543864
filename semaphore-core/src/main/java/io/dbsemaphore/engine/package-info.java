/**
 * The engine: acquires and releases permits, and cleans up. Its subpackages have one task each: {@code batch} lets callers share a
 * transaction, {@code hold} manages the grants of this JVM, and {@code quota} lets callers use permits one after the other. The transactions
 * are in {@code io.dbsemaphore.persistence}.
 *
 * <p>{@link io.dbsemaphore.engine.SemaphoreEngine}, {@link io.dbsemaphore.engine.SchemaScript} and the exceptions are public API;
 * all else is internal.
 */
@NullMarked
package io.dbsemaphore.engine;

import org.jspecify.annotations.NullMarked;
