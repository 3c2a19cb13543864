/**
 * A semaphore as a mutex: what the adapters for locks of other libraries have in common.
 *
 * <p>Internal. Depends on the contract of {@code semaphore-core} only.
 */
@NullMarked
package io.dbsemaphore.boot.mutex;

import org.jspecify.annotations.NullMarked;
