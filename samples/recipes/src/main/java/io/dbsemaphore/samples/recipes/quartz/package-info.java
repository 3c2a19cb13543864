/** At most so many executions of a Quartz job over all instances. */
@NullMarked
package io.dbsemaphore.samples.recipes.quartz;

import org.jspecify.annotations.NullMarked;
