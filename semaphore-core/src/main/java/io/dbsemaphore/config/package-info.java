/**
 * The settings of an engine: immutable, each with its default and its bounds in one place. A value out of bounds is rejected with a message
 * that names its property, the bound and the consequence.
 *
 * <p>Public API. Depends on the contract.
 */
@NullMarked
package io.dbsemaphore.config;

import org.jspecify.annotations.NullMarked;
