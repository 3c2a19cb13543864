/**
 * The sample that keeps running (profile {@code live}): two instances in one process, and jobs without an end, so that there
 * is something to see on the operator's page.
 *
 * <p>Not an example of how to use the library; that is the package above.
 */
@NullMarked
package io.dbsemaphore.samples.backup.live;

import org.jspecify.annotations.NullMarked;
