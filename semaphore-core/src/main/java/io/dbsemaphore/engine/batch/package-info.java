/**
 * Group commit: the callers of this JVM queue their acquires and releases, and one transaction decides many of them.
 *
 * <p><b>Who does what.</b> {@link io.dbsemaphore.engine.batch.WorkQueue} has all the state and does no input or output. It consists of the
 * {@linkplain io.dbsemaphore.engine.batch.ReadyQueue acquires to be tried}, the
 * {@linkplain io.dbsemaphore.engine.batch.WaitingLines callers that wait}, the batches in flight, and the releases.
 * {@link io.dbsemaphore.engine.batch.GroupCommit} does the input and output on the threads of the database, and passes the answers on.
 * {@link io.dbsemaphore.engine.batch.BatchLoop} decides how many such threads run.
 *
 * <p><b>States.</b> An {@linkplain io.dbsemaphore.engine.batch.Acquire acquire} is <em>ready</em>, in a <em>batch</em>, or in the
 * <em>line</em> of each of its semaphores, until it is <em>done</em>:
 * <pre>
 *             take               granted, rejected, refused without a wait
 *   ready ------------&gt; batch ---------------------------------------------&gt; done
 *     ^ ^                 | |
 *     | |  failed, locked | |  refused, and the caller waits
 *     | +-----------------+ v
 *     +------------------ line          cancel: from ready and line to done; from a batch only if nothing is written yet
 *            wake
 * </pre>
 * {@link io.dbsemaphore.engine.batch.Settlement} makes the moves at the end of a batch. The findings of the attempts are in one {@linkplain
 * io.dbsemaphore.domain.Attempt record}, replaced as a whole.
 *
 * <p><b>Lock.</b> The lock of the {@code WorkQueue} guards all of this: the queues, the batches, and the fields of acquires and releases
 * except for their answers. The compiler checks that the parts are reached under the lock only. No code of the application, no statement and
 * no answer runs under it. Other threads read the volatile fields of an acquire without the lock.
 *
 * <p><b>Order.</b> {@link io.dbsemaphore.line.Places} gives each caller its place, {@link io.dbsemaphore.engine.batch.Acquire#IN_ORDER} compares
 * callers of this JVM wherever they are, and {@link io.dbsemaphore.line.Admission} decides who may go. The transaction and the queue ask the
 * same functions: the queue with its estimate, to find out whose acquire is worth a transaction; the transaction with the rows that it has
 * locked. Only the transaction grants.
 *
 * <p><b>Who wakes whom.</b> The estimate of a semaphore's available permits changes with the end of each batch, with each release of this
 * JVM, when a caller leaves, and with what the {@linkplain io.dbsemaphore.engine.batch.AvailabilityPoller poller} and the
 * {@linkplain io.dbsemaphore.engine.batch.RemoteReleaseListener notifications} of other instances report. Each change wakes the callers
 * that the estimate now suffices for: they become ready, and the thread that caused the change signals the loop of batches.
 * {@link io.dbsemaphore.engine.batch.AcquireDeadlines} ends the waits that last too long.
 *
 * <p>{@code WorkQueueScheduleTests} compares all of this with a model in random schedules, without a database, a clock or threads.
 *
 * <p>Internal. Depends on persistence and {@code persistence.unit}, {@code jdbc}, {@code concurrent}, the line and the domain.
 */
@NullMarked
package io.dbsemaphore.engine.batch;

import org.jspecify.annotations.NullMarked;
