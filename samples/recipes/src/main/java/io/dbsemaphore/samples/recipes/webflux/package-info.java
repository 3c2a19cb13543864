/** A limit for a reactive endpoint. */
@NullMarked
package io.dbsemaphore.samples.recipes.webflux;

import org.jspecify.annotations.NullMarked;
