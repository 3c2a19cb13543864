/**
 * The values that the engine and the transactions exchange, the {@linkplain io.dbsemaphore.domain.AcquireState state} of an
 * acquire, and the {@linkplain io.dbsemaphore.domain.Allocation decision} about which acquires of a batch are granted. No class uses a
 * database or starts a thread.
 *
 * <p>Internal. Depends on the line, and on the values and exceptions of the contract.
 */
@NullMarked
package io.dbsemaphore.domain;

import org.jspecify.annotations.NullMarked;
