/** At most so many registered devices for each user. */
@NullMarked
package io.dbsemaphore.samples.recipes.devices;

import org.jspecify.annotations.NullMarked;
