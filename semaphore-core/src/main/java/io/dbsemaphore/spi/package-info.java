/**
 * The extension points of the library: listeners of its events, decorators of the {@link io.dbsemaphore.spi.PermitManager}, the check of
 * whether an owner still exists, and capacities from data of the application.
 *
 * <p>Public API.
 */
@NullMarked
package io.dbsemaphore.spi;

import org.jspecify.annotations.NullMarked;
