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

/**
 * Receives events about the permits of this JVM. A bean; if there are several, they are called in the order of Spring's
 * {@link org.springframework.core.annotation.Order @Order}. All methods do nothing by default.
 *
 * <p><b>Threads.</b> Listeners are called synchronously, on the thread that each method names, and may be called by
 * several threads at the same time. They must return quickly: a listener that blocks delays the caller, or a thread of
 * the library that serves many callers. "The acquiring thread" is the thread that called {@code acquire},
 * {@code tryAcquire}, {@code execute} or a {@code @WithPermits} method; for {@code acquireAsync}, and for
 * {@code @WithPermits} methods that wait without a thread, it is a thread of the library
 * ({@code semaphore-completion-N}) that application code may block, or the calling thread if a permit is reused.
 *
 * <p>In an application with the starter, the first 1,000 events that occur while beans are still being created are kept, and
 * delivered when all beans have been created, on the thread that starts the application.
 *
 * <p><b>Transactions.</b> Listeners are called outside any transaction of the library, after it has committed; a
 * transaction of the application may be open on the calling thread.
 *
 * <p><b>Exceptions.</b> An exception is logged and has no other effect.
 */
public interface SemaphoreListener {

    /**
     * Permits were granted, or an earlier grant was returned to a repeated acquire. Called on the acquiring thread.
     *
     * @param grant the grant; {@link PermitGrant#replayed} tells the two cases apart
     * @param waited the time from the call to the grant
     */
    default void acquired(PermitGrant grant, Duration waited) {}

    /**
     * Permits were granted to a caller that had to wait because they were not available at first. Called after
     * {@link #acquired}, on the same thread.
     *
     * @param grant the grant
     * @param waited the time from the call to the grant
     */
    default void waited(PermitGrant grant, Duration waited) {}

    /**
     * Permits did not become available within the wait time. Called on the acquiring thread.
     *
     * @param request what was requested
     * @param shortages the semaphores without enough available permits
     * @param waited the time from the call to the refusal
     */
    default void refused(AcquireRequest request, List<PermitShortage> shortages, Duration waited) {}

    /**
     * Permits that another JVM, or an earlier run of this one, had acquired were released by this JVM. Called on the
     * thread that called {@code release}; for a release that was {@linkplain ReleaseOutcome#DEFERRED deferred} or
     * repeated in the background, on the thread {@code semaphore-background}.
     *
     * @param externalId the external id of the grant
     */
    default void released(String externalId) {}

    /**
     * Permits that this JVM had acquired were released by this JVM. Called on the thread that called {@code release} or
     * {@code close}, or that ran the work of {@code execute}; for a {@code @WithPermits} method that returns a future
     * or a publisher, on a thread of the library ({@code semaphore-guard-N}) or the one that ended the work; for a
     * release that was {@linkplain ReleaseOutcome#DEFERRED deferred} or repeated in the background, on the thread
     * {@code semaphore-background}; at shutdown, on the thread {@code semaphore-shutdown}. Calls
     * {@link #released(String)} by default.
     *
     * @param externalId the external id of the grant
     * @param permits the number of permits for each semaphore
     * @param held the time from the acquire, or from its repetition by this JVM, to the release
     */
    default void released(String externalId, Map<String, Integer> permits, Duration held) {
        released(externalId);
    }

    /**
     * This JVM reclaimed the permits of a request whose time to live had passed or whose holder was found dead. Called
     * on the thread that ran the transaction: a thread of the library ({@code semaphore-grants-N}) or one that
     * acquires, either of which may do so on behalf of other callers; or the thread of the maintenance
     * ({@code semaphore-maintenance}, or the one that called {@link SemaphoreMaintenance#releaseOrphans}).
     *
     * @param externalId the external id of the request
     */
    default void expired(String externalId) {}

    /**
     * Does what {@link #expired(String)} does, and passes what the request held. Calls {@link #expired(String)} by
     * default.
     *
     * @param externalId the external id of the request
     * @param permits the number of permits for each semaphore
     */
    default void expired(String externalId, Map<String, Integer> permits) {
        expired(externalId);
    }

    /**
     * A grant of this JVM was found to be no longer held, while its work may still be running. Called once for each
     * grant: on the thread {@code semaphore-losses} if the keep-alive finds it, or if the grant expires and was not released; on the
     * calling thread if {@code renew}, {@code requireHeld}, {@code release} or {@code forceRelease} finds it. Also for a grant that
     * is not kept alive.
     *
     * @param grant the lost grant
     */
    default void lost(PermitGrant grant) {}

    /**
     * An operator released a request by force through this JVM. Called on the thread that called
     * {@link SemaphoreAdmin#forceRelease}. Not called if that release was
     * {@linkplain ReleaseOutcome#DEFERRED deferred}.
     *
     * @param externalId the external id of the request
     * @param releasedBy the operator
     * @param reason the reason that the operator gave
     */
    default void forced(String externalId, String releasedBy, String reason) {}

    /**
     * A transaction decided acquires: it granted, refused or rejected them. Called on the thread that ran it: a thread
     * of the library ({@code semaphore-grants-N}) or one that acquires, which may decide for other callers too.
     *
     * @param acquires how many acquires it decided, at least one
     */
    default void decided(int acquires) {}

    /**
     * This JVM completed a maintenance task without a failure, including the case that another instance was already
     * running it. Called on the thread {@code semaphore-maintenance}, or the one that called
     * {@link SemaphoreMaintenance}.
     *
     * @param task the task
     * @param done how many requests were released, or how many requests or audit entries were deleted; 0 if another instance was
     *     running the task
     */
    default void maintained(MaintenanceTask task, int done) {}

    /**
     * A transaction of the library failed, because of a conflict with another transaction or a lost connection, and is
     * repeated. Called on the thread that runs the transaction: a thread of the library or the calling thread.
     *
     * @param failure why the last attempt failed
     */
    default void retried(Throwable failure) {}
}
