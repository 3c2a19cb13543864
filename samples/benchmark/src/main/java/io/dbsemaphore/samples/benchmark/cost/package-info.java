/** What a lone acquire of the library costs, by what is in its tables. */
@NullMarked
package io.dbsemaphore.samples.benchmark.cost;

import org.jspecify.annotations.NullMarked;
