/**
 * Group commit: callers queue acquires and releases, and one transaction decides many of them.
 * {@link io.dbsemaphore.engine.batch.WorkQueue} has all the state, under one lock;
 * {@link io.dbsemaphore.engine.batch.GroupCommit} does all the input and output.
 *
 * <p>Internal. Depends on {@code engine.support}, on persistence and {@code persistence.unit}, {@code jdbc}, {@code concurrent} and
 * the domain.
 */
@NullMarked
package io.dbsemaphore.engine.batch;

import org.jspecify.annotations.NullMarked;
