/**
 * The settings of an engine: immutable, with a default for everything, changed by {@code with} methods.
 *
 * <p>Public API. Depends on the contract.
 */
@NullMarked
package io.dbsemaphore.config;

import org.jspecify.annotations.NullMarked;
