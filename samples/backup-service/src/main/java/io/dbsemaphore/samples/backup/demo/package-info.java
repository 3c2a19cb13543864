/**
 * The demo (profile {@code demo}): a burst of jobs on one or several instances, a timeline of what ran when, and a
 * verdict. It reads only the job log, which the jobs write themselves, and not the tables of the semaphores.
 *
 * <p>Not an example of how to use the library; that is the package above.
 */
@NullMarked
package io.dbsemaphore.samples.backup.demo;

import org.jspecify.annotations.NullMarked;
