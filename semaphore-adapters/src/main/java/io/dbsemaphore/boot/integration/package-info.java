/**
 * A {@code LockRegistry} of Spring Integration, if the application enables it: each lock is a semaphore with one permit.
 *
 * <p>Public API. Depends on {@code semaphore-core}, the auto-configuration of the starter, {@code boot.mutex} and
 * Spring Integration; nothing depends on this package.
 */
@NullMarked
package io.dbsemaphore.boot.integration;

import org.jspecify.annotations.NullMarked;
