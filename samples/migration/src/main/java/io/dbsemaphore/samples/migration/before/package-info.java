/** How it was done with other libraries. */
@NullMarked
package io.dbsemaphore.samples.migration.before;

import org.jspecify.annotations.NullMarked;
