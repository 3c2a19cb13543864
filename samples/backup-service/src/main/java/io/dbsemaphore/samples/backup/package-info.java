/**
 * A service that backs up snapshots on any number of instances, with limits for the storage and the network. The limits are semaphores in the database that the service has anyway.
 *
 * <p>{@link io.dbsemaphore.samples.backup.BackupService} puts a method under two semaphores with an annotation,
 * {@link io.dbsemaphore.samples.backup.ReplicationService} acquires one in code. All else is an ordinary application.
 */
@NullMarked
package io.dbsemaphore.samples.backup;

import org.jspecify.annotations.NullMarked;
