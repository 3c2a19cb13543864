/** A pool for all tenants, which take turns. */
@NullMarked
package io.dbsemaphore.samples.recipes.noisyneighbour;

import org.jspecify.annotations.NullMarked;
