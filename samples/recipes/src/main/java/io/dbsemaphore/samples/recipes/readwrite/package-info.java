/** Readers together, a writer alone. */
@NullMarked
package io.dbsemaphore.samples.recipes.readwrite;

import org.jspecify.annotations.NullMarked;
