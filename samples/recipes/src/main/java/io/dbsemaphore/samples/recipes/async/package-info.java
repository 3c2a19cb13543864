/** A limit for {@code @Async} methods. */
@NullMarked
package io.dbsemaphore.samples.recipes.async;

import org.jspecify.annotations.NullMarked;
