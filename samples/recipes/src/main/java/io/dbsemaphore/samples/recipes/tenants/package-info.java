/** A limit for all tenants together, and one for each. */
@NullMarked
package io.dbsemaphore.samples.recipes.tenants;

import org.jspecify.annotations.NullMarked;
