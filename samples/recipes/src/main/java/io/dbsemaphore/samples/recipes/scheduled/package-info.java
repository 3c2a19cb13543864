/** A {@code @Scheduled} method that one instance at a time runs. */
@NullMarked
package io.dbsemaphore.samples.recipes.scheduled;

import org.jspecify.annotations.NullMarked;
