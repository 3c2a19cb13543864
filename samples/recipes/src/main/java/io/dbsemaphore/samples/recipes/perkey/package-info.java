/** One at a time for each key. */
@NullMarked
package io.dbsemaphore.samples.recipes.perkey;

import org.jspecify.annotations.NullMarked;
