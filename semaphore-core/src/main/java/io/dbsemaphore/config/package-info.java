/**
 * The settings of an engine: immutable, each with its default and its bounds in one place. A value that cannot work is
 * refused with the name of its property, the bound, and what would happen otherwise.
 *
 * <p>Public API. Depends on the contract.
 */
@NullMarked
package io.dbsemaphore.config;

import org.jspecify.annotations.NullMarked;
