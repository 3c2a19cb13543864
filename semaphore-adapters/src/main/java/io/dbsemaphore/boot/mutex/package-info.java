/**
 * A semaphore as a mutex: the common base of the adapters for locks of other libraries.
 *
 * <p>Internal. Depends on the contract and the settings of {@code semaphore-core} only.
 */
@NullMarked
package io.dbsemaphore.boot.mutex;

import org.jspecify.annotations.NullMarked;
