/** Recipes for DB Semaphore, each in a package of its own: the code of docs/recipes.md. */
@NullMarked
package io.dbsemaphore.samples.recipes;

import org.jspecify.annotations.NullMarked;
