/**
 * The Spring Boot starter: creates the beans of the library from the properties under {@code semaphore}, on a
 * {@code DataSource} of the application, and explains failures at start.
 *
 * <p>It does not affect the application's own configuration: no JPA type becomes a bean, Liquibase runs only if enabled,
 * and each bean backs off if the application defines its own.
 *
 * <p>Public API. Depends on {@code semaphore-core} and Spring Boot, and optionally on Liquibase.
 */
@NullMarked
package io.dbsemaphore.boot.autoconfigure;

import org.jspecify.annotations.NullMarked;
