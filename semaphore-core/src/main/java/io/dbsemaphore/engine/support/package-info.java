/**
 * Shared by the parts of the engine: deadlines, retries, the notification of listeners, and releases in the background.
 *
 * <p>Internal. Depends on persistence and {@code persistence.unit}, {@code jdbc}, {@code concurrent} and the domain.
 */
@NullMarked
package io.dbsemaphore.engine.support;

import org.jspecify.annotations.NullMarked;
