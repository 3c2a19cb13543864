/**
 * Metrics and observations, where the application has Micrometer: built on what the library tells its
 * {@link io.dbsemaphore.spi.SemaphoreListener}s, on a decorator around what acquires, and on the reports of
 * {@link io.dbsemaphore.admin.SemaphoreAdmin}. Each name and tag is in {@code docs/metrics.md}.
 *
 * <p>Tags are what is configured, a semaphore or a pattern, and never what a caller named.
 *
 * <p>Public API. Depends on the auto-configuration, {@code semaphore-core} and Micrometer; nothing depends on this package.
 */
@NullMarked
package io.dbsemaphore.boot.metrics;

import org.jspecify.annotations.NullMarked;
