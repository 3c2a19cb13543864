/**
 * Support for the tests of applications: semaphores in memory ({@link io.dbsemaphore.test.InMemorySemaphores}), assertions
 * ({@link io.dbsemaphore.test.SemaphoreAssertions}) and the detection of permits that a test does not release
 * ({@link io.dbsemaphore.test.PermitLeakExtension}). Depends on the contract and the settings, not on the engine.
 *
 * <p>Public API.
 */
@NullMarked
package io.dbsemaphore.test;

import org.jspecify.annotations.NullMarked;
