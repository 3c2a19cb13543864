/**
 * The instances: their registration, their heartbeats, and which of them are dead.
 *
 * <p>Internal. Depends on {@code io.dbsemaphore.domain} and on {@code io.dbsemaphore.persistence.unit}.
 */
@NullMarked
package io.dbsemaphore.persistence.instance;

import org.jspecify.annotations.NullMarked;
