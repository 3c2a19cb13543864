/**
 * What the parts of the engine share: deadlines, retries, and the threads that tell listeners and release in the background.
 *
 * <p>Internal. Depends on persistence and on the domain.
 */
@NullMarked
package io.dbsemaphore.engine.support;

import org.jspecify.annotations.NullMarked;
