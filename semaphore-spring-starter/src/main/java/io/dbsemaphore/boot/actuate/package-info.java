/**
 * Actuator support: the endpoint {@code semaphores}, whose write operations have to be enabled, and a health indicator.
 * Depends on the auto-configuration, {@code semaphore-core} and the Actuator.
 */
@NullMarked
package io.dbsemaphore.boot.actuate;

import org.jspecify.annotations.NullMarked;
