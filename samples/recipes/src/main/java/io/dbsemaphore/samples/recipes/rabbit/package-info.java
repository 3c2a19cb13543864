/** A listener of RabbitMQ with back pressure. */
@NullMarked
package io.dbsemaphore.samples.recipes.rabbit;

import org.jspecify.annotations.NullMarked;
