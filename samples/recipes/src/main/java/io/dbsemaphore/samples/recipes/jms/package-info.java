/** A message listener that takes no more than its permits allow. */
@NullMarked
package io.dbsemaphore.samples.recipes.jms;

import org.jspecify.annotations.NullMarked;
