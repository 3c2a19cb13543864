/**
 * The values that the engine and the transactions exchange, and the decision itself: which of the acquires of a batch get
 * their permits ({@link io.dbsemaphore.domain.Allocation}). Nothing here touches a database or a thread.
 *
 * <p>Internal. Depends on the values and exceptions of the contract.
 */
@NullMarked
package io.dbsemaphore.domain;

import org.jspecify.annotations.NullMarked;
