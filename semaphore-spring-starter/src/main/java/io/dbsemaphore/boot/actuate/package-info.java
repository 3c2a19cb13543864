/**
 * Actuator support: the endpoint {@code semaphores}, whose write operations have to be enabled, the operator's page at the same
 * URL, and a health indicator.
 *
 * <p>Internal; applications can rely on the JSON of the endpoint only. Depends on the auto-configuration,
 * {@code semaphore-core} and the Actuator; nothing depends on this package.
 */
@NullMarked
package io.dbsemaphore.boot.actuate;

import org.jspecify.annotations.NullMarked;
