/** A limit for each tenant. */
@NullMarked
package io.dbsemaphore.samples.recipes.tenants;

import org.jspecify.annotations.NullMarked;
