/** Status 429 for a request without a permit. */
@NullMarked
package io.dbsemaphore.samples.recipes.http;

import org.jspecify.annotations.NullMarked;
