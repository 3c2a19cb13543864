/** An application with WebFlux and R2DBC, without a JDBC {@code DataSource}, whose semaphores have a JDBC pool of their own. */
@NullMarked
package io.dbsemaphore.samples.reactive;

import org.jspecify.annotations.NullMarked;
