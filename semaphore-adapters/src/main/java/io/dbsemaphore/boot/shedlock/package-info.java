/**
 * A {@code LockProvider} of ShedLock, if the application enables it: each lock is a semaphore with one permit.
 *
 * <p>Public API. Depends on {@code semaphore-core}, the auto-configuration of the starter, {@code boot.mutex} and
 * ShedLock; nothing depends on this package.
 */
@NullMarked
package io.dbsemaphore.boot.shedlock;

import org.jspecify.annotations.NullMarked;
