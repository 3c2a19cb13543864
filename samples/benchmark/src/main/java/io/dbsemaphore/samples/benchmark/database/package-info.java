/** The database that is measured on, and how it is set up. Depends on nothing else here. */
@NullMarked
package io.dbsemaphore.samples.benchmark.database;

import org.jspecify.annotations.NullMarked;
