/** Premium customers before the others, and none of them before all. */
@NullMarked
package io.dbsemaphore.samples.recipes.premium;

import org.jspecify.annotations.NullMarked;
