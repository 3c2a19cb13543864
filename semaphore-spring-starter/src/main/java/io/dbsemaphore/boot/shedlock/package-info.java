/**
 * ShedLock's {@code LockProvider}, where the application has ShedLock and asks for it: each lock is a semaphore with one permit.
 *
 * <p>Depends on the contract of {@code semaphore-core}, the auto-configuration and ShedLock; nothing depends on this package.
 */
@NullMarked
package io.dbsemaphore.boot.shedlock;

import org.jspecify.annotations.NullMarked;
