/**
 * What the application's Actuator shows of the semaphores: the endpoint {@code semaphores}, whose write operations have
 * to be switched on, and a health indicator. Depends on the auto-configuration, {@code semaphore-core} and the Actuator;
 * nothing depends on this package.
 */
@NullMarked
package io.dbsemaphore.boot.actuate;

import org.jspecify.annotations.NullMarked;
