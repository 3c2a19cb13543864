/**
 * Semaphores without a database in the tests of Spring Boot: {@link io.dbsemaphore.test.autoconfigure.AutoConfigureSemaphores}.
 *
 * <p>Public API.
 */
@NullMarked
package io.dbsemaphore.test.autoconfigure;

import org.jspecify.annotations.NullMarked;
