/** At most so many executions of a db-scheduler task over all instances. */
@NullMarked
package io.dbsemaphore.samples.recipes.dbscheduler;

import org.jspecify.annotations.NullMarked;
