/** Calls of an interface with {@code @HttpExchange}. */
@NullMarked
package io.dbsemaphore.samples.recipes.httpexchange;

import org.jspecify.annotations.NullMarked;
