/**
 * What the tests of all modules stand on: a real database ({@link io.dbsemaphore.testing.TestDatabase}), the ways in
 * which a network and a process fail ({@link io.dbsemaphore.testing.TcpProxy},
 * {@link io.dbsemaphore.testing.ChildJvm}), and interleavings that are the same in every run
 * ({@link io.dbsemaphore.testing.StatementGate}, {@link io.dbsemaphore.testing.Concurrently}). It depends on nothing of the library, and every wait in it has an end.
 */
@NullMarked
package io.dbsemaphore.testing;

import org.jspecify.annotations.NullMarked;
