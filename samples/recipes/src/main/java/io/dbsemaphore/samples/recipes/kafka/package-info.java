/** A Kafka listener that takes no more than its permits allow. */
@NullMarked
package io.dbsemaphore.samples.recipes.kafka;

import org.jspecify.annotations.NullMarked;
