/** Steps and partitions of Spring Batch under permits. */
@NullMarked
package io.dbsemaphore.samples.recipes.batch;

import org.jspecify.annotations.NullMarked;
