/** The same with this library. */
@NullMarked
package io.dbsemaphore.samples.migration.after;

import org.jspecify.annotations.NullMarked;
