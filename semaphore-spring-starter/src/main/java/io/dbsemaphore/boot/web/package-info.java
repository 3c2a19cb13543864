/**
 * The answer to an HTTP request whose permits are not available.
 *
 * <p>Internal. Depends on the contract of {@code semaphore-core} only.
 */
@NullMarked
package io.dbsemaphore.boot.web;

import org.jspecify.annotations.NullMarked;
