package io.dbsemaphore.spi;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreMaintenance;
import io.dbsemaphore.admin.SemaphoreMaintenance.MaintenanceTask;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Receives events about the permits of this JVM. Declare listeners as beans. If there are several, they are called in the order of Spring's
 * {@link org.springframework.core.annotation.Order @Order}. All methods do nothing by default.
 *
 * <p><b>Threads.</b> Listeners are called synchronously, on the thread that each method names, and may be called by
 * several threads at the same time. They must return quickly: a listener that blocks delays the caller, or a thread of
 * the library that serves many callers. "The acquiring thread" is the thread that called {@code acquire},
 * {@code tryAcquire}, {@code execute} or a {@code @WithPermits} method. For {@code acquireAsync}, and for
 * {@code @WithPermits} methods that wait without a thread, it is a thread of the library
 * ({@code semaphore-application-N}), or the calling thread if a permit is reused.
 *
 * <p>In an application with the starter, the first 1,000 events that occur while beans are still being created are kept, and
 * delivered when all beans have been created, on the thread that starts the application.
 *
 * <p><b>Transactions.</b> Listeners are called outside the transactions of the library, after these have committed; a
 * transaction of the application may be open on the calling thread.
 *
 * <p><b>Events.</b> Each method takes one event, to which later versions may add values. The constructors of events may change: create
 * events only in tests.
 *
 * <p><b>Exceptions.</b> An exception is logged and has no other effect.
 */
public interface SemaphoreListener {

    /**
     * Called on the acquiring thread when permits were granted, or an earlier grant was returned to a repeated acquire.
     *
     * @param event the grant
     */
    default void acquired(Acquired event) {}

    /**
     * Called on the acquiring thread when permits did not become available within the wait time.
     *
     * @param event the refusal
     */
    default void refused(Refused event) {}

    /**
     * Called when this JVM has released permits, on the thread that called {@code release} or {@code close}, or that ran the
     * work of {@code execute}. For a {@code @WithPermits} method that returns a future or a publisher, called on the thread that ended
     * the work, or on a thread of the library ({@code semaphore-application-N}). For a release that was {@linkplain
     * ReleaseOutcome#DEFERRED deferred} or repeated in the background, and at shutdown, called on a thread of the library.
     *
     * @param event the release
     */
    default void released(Released event) {}

    /**
     * Called when this JVM has reclaimed the permits of a request whose time to live had passed or whose holder was found dead. The thread
     * is the one that ran the batch ({@code semaphore-database-N}) or the maintenance ({@code semaphore-application-N}, or the one that
     * called {@link SemaphoreMaintenance#releaseOrphans}).
     *
     * @param event the reclaim
     */
    default void expired(Expired event) {}

    /**
     * Called when a grant of this JVM was found to be no longer held, while its work may still be running; once for each grant, whether it
     * is kept alive or not. If {@code renew}, {@code requireHeld}, {@code release} or {@code forceRelease} finds the loss, the thread is
     * the calling one; otherwise it is a thread of the library ({@code semaphore-application-N}), one loss after the other. If a shutdown
     * takes a grant from work that is still running, this is called instead of {@link #released}.
     *
     * @param event the loss
     */
    default void lost(Lost event) {}

    /**
     * Called when an operator has released a request by force through this JVM, on the thread that called
     * {@link SemaphoreAdmin#forceRelease}. Not called if that release was {@linkplain ReleaseOutcome#DEFERRED deferred}.
     *
     * @param event the release
     */
    default void forced(Forced event) {}

    /**
     * Called when a transaction has granted, refused or rejected acquires, on the thread that ran the transaction
     * ({@code semaphore-database-N}).
     *
     * @param event how many were decided
     */
    default void decided(Decided event) {}

    /**
     * Called when this JVM has completed a maintenance task without a failure, even if another instance was already running the task. The
     * thread is one of the library ({@code semaphore-application-N}), or the one that called {@link SemaphoreMaintenance}.
     *
     * @param event the completed task
     */
    default void maintained(Maintained event) {}

    /**
     * Called when a transaction of the library failed because of a conflict with another transaction or a lost connection, and is repeated.
     * If the transaction acquires or releases, the thread is one of the library ({@code semaphore-application-N}); otherwise the one that
     * runs the transaction, or the calling thread.
     *
     * @param event why it is repeated
     */
    default void retried(Retried event) {}

    /**
     * Permits were granted.
     *
     * @param grant the grant; {@link PermitGrant#isReplayed} tells whether an earlier acquire made it
     * @param duration the time from the call to the grant
     * @param waited whether the caller had to wait, because the permits were not available at first
     */
    record Acquired(PermitGrant grant, Duration duration, boolean waited) {}

    /**
     * Permits were refused.
     *
     * @param request the request
     * @param shortages the semaphores without enough available permits
     * @param duration the time from the call to the refusal
     */
    record Refused(AcquireRequest request, List<PermitShortage> shortages, Duration duration) {}

    /**
     * Permits were released.
     *
     * @param externalId the external id of the grant
     * @param permits the number of permits for each semaphore; empty if another JVM, or an earlier run of this one, had
     *     acquired them, or if the application kept no handle of a grant without a time to live
     * @param held the time from the acquire, or from its repetition by this JVM, to the release; empty if this JVM had not
     *     acquired them
     */
    record Released(String externalId, Map<String, Integer> permits, Optional<Duration> held) {}

    /**
     * Permits were reclaimed.
     *
     * @param externalId the external id of the request
     * @param permits the number of permits for each semaphore
     */
    record Expired(String externalId, Map<String, Integer> permits) {}

    /**
     * A grant was found lost.
     *
     * @param grant the lost grant
     */
    record Lost(PermitGrant grant) {}

    /**
     * A request was released by force.
     *
     * @param externalId the external id of the request
     * @param releasedBy the operator
     * @param reason the reason that the operator gave
     */
    record Forced(String externalId, String releasedBy, String reason) {}

    /**
     * Acquires were decided.
     *
     * @param acquires how many acquires the transaction decided, at least one
     */
    record Decided(int acquires) {}

    /**
     * A maintenance task was completed.
     *
     * @param task the task
     * @param done how many requests were released, or how many requests or audit entries were deleted; 0 if another instance was
     *     running the task
     */
    record Maintained(MaintenanceTask task, int done) {}

    /**
     * A transaction is repeated.
     *
     * @param failure why the last attempt failed
     */
    record Retried(Throwable failure) {}
}
