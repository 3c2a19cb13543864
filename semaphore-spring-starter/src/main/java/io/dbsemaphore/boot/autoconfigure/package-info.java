/**
 * The Spring Boot starter: makes the beans of the library from the properties under {@code semaphore}, on a
 * {@code DataSource} of the application, and explains what keeps it from starting.
 *
 * <p>Nothing in here is to disturb the application: no JPA type becomes a bean, Liquibase is run only where that was
 * asked for, and each bean backs off before the application's own. Depends on {@code semaphore-core} and Spring Boot,
 * and on Liquibase where it is there; nothing depends on this package.
 */
@NullMarked
package io.dbsemaphore.boot.autoconfigure;

import org.jspecify.annotations.NullMarked;
