/**
 * The types for operators: {@link io.dbsemaphore.admin.SemaphoreAdmin}, {@link io.dbsemaphore.admin.SemaphoreMaintenance}, and the types
 * that they return and throw.
 *
 * <p>Public API. Later versions may add components to the records: read them, and construct them only in tests.
 */
@NullMarked
package io.dbsemaphore.admin;

import org.jspecify.annotations.NullMarked;
