package io.dbsemaphore;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Hears what happens to permits in this JVM. A bean; several are called in their order.
 *
 * <p>Each method says on which thread it is called. They are called outside any transaction of the library, must return
 * quickly, and what they throw is logged and changes nothing.
 */
public interface SemaphoreListener {

    /**
     * Permits were granted, or granted again to a repetition. On the thread that acquires.
     *
     * @param waited from the call to the grant
     */
    default void acquired(PermitGrant grant, Duration waited) {}

    /**
     * Permits were granted that were not free at first, so that the caller had to wait for them. After
     * {@link #acquired}, on the same thread.
     *
     * @param waited from the call to the grant
     */
    default void waited(PermitGrant grant, Duration waited) {}

    /**
     * Permits did not become free within the wait time. On the thread that acquires.
     *
     * @param waited from the call to the refusal
     */
    default void refused(AcquireRequest request, List<PermitShortage> shortages, Duration waited) {}

    /** Permits were released by this JVM. On the thread that releases, or one of the library's. */
    default void released(String externalId) {}

    /**
     * Permits that this JVM had acquired were released by this JVM. On the thread that releases, or one of the library's.
     * Default: tells {@link #released(String)}, which is told directly of what this JVM released without having acquired it.
     *
     * @param permits how many of each semaphore
     * @param held from the acquire, or from its repetition by this JVM, to the release
     */
    default void released(String externalId, Map<String, Integer> permits, Duration held) {
        released(externalId);
    }

    /**
     * A request was taken back by this JVM because its time to live had passed or its holder was gone. On the thread that
     * grants the room: a thread of the library, which may do so for several callers, or one that acquires; or on the
     * library's maintenance thread.
     */
    default void expired(String externalId) {}

    /**
     * As {@link #expired(String)}, which the default tells, with what the request held.
     *
     * @param permits how many of each semaphore
     */
    default void expired(String externalId, Map<String, Integer> permits) {
        expired(externalId);
    }

    /**
     * A grant of this JVM was found to be no longer held, while its work may still be running. Once for each grant: when
     * the keep-alive finds it, on a thread of the library that does nothing else; or earlier, and also where it was not
     * kept alive, when {@code renew} or {@code requireHeld} does, on the thread that calls it.
     */
    default void lost(PermitGrant grant) {}

    /** A request was taken away by an operator, through this JVM. On the operator's thread. */
    default void forced(String externalId, String releasedBy, String reason) {}

    /**
     * One transaction decided acquires: granted, refused or rejected them. On the thread that granted, a thread of the
     * library or one that acquires.
     *
     * @param acquires how many, at least one
     */
    default void decided(int acquires) {}

    /**
     * This JVM has come to the end of a task of the maintenance without a failure, also where it found another instance
     * at work. On the library's maintenance thread, or the operator's.
     *
     * @param done how many rows it was about
     */
    default void maintained(MaintenanceTask task, int done) {}

    /**
     * A transaction of the library failed and is tried again: it lost against another one, or had no answer. On the
     * thread that runs it, a thread of the library or one that calls it.
     */
    default void retried(Throwable failure) {}
}
