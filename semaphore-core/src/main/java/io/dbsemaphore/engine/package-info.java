/**
 * The engine: acquiring with its attempts and its waiting, the handles of what this JVM holds, releasing, renewing,
 * checking, and what an operator does. It decides when a transaction runs and what its failure means; what the
 * transaction does is in {@code io.dbsemaphore.persistence}.
 *
 * <p>Entered through {@link io.dbsemaphore.engine.SemaphoreEngine}. Depends on the contract, on persistence, on
 * {@code io.dbsemaphore.jdbc} and {@code io.dbsemaphore.concurrent}.
 */
@NullMarked
package io.dbsemaphore.engine;

import org.jspecify.annotations.NullMarked;
