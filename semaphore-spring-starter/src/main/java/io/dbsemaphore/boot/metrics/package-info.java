/**
 * Metrics and observations for applications with Micrometer: from the events of a {@link io.dbsemaphore.spi.SemaphoreListener}, a
 * {@link io.dbsemaphore.spi.PermitManagerDecorator}, and the reports of {@link io.dbsemaphore.admin.SemaphoreAdmin}.
 * {@code docs/metrics.md} lists each name and tag.
 *
 * <p>The values of tags are configured names and patterns, and never come from callers.
 *
 * <p>Public API. Depends on the auto-configuration, {@code semaphore-core} and Micrometer; nothing depends on this package.
 */
@NullMarked
package io.dbsemaphore.boot.metrics;

import org.jspecify.annotations.NullMarked;
