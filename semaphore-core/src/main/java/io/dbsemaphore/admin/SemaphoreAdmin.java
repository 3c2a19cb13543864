package io.dbsemaphore.admin;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.admin.SemaphoreStatus.ShareStatus;
import io.dbsemaphore.admin.SemaphoreStatus.WaitingCaller;
import io.dbsemaphore.admin.SemaphoreStatus.WaitingInstance;
import io.dbsemaphore.spi.CapacityProvider;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/**
 * Operations for administrators: create and delete semaphores, change capacities, list holders, release by force. A
 * bean; thread-safe.
 *
 * <p>Each method blocks the calling thread while a transaction of its own runs on a thread of the library
 * ({@code semaphore-database-N}). The transaction is repeated as {@link SemaphoreOperations} says. An interrupt does not abort it; the
 * interrupt flag is preserved. Each method throws {@link IllegalArgumentException} for an invalid argument, before it accesses the database,
 * and {@link org.springframework.dao.DataAccessException} if the database fails despite the retries.
 */
public interface SemaphoreAdmin {

    /** The maximum number of results of the methods that have a limit: {@value}. */
    int MAX_LIMIT = 10_000;

    /**
     * Creates a semaphore. If the answer to the commit is lost, the method may return false although it has created the semaphore.
     *
     * @param name the name, valid as {@link SemaphoreName} says
     * @param capacity the capacity, at least 0; 0 creates a paused semaphore
     * @return true if it was created; false if a semaphore of this name exists, which keeps its capacity. If a pattern created that
     *     semaphore, it belongs to the operator from then on: it is not deleted when idle, and keeps its capacity when that of the pattern
     *     changes
     * @throws IllegalArgumentException if the name is invalid or the capacity is negative
     */
    boolean create(String name, int capacity);

    /**
     * Changes the capacity of a semaphore. The change applies to all instances from their next acquire on; where permits are reused, within
     * the reuse time. Permits that are held are not revoked: if more are held than the new capacity allows, the semaphore grants no permits
     * until enough of them are released. A capacity of 0 pauses the semaphore. Each change is audited as a {@link CapacityChange}. Setting
     * the current capacity again is not audited, but marks the capacity of a pattern's semaphore as set by hand.
     *
     * @param name the semaphore
     * @param capacity the new capacity, at least 0
     * @param changedBy the operator, for the audit; 1 to 190 characters, no control characters
     * @param reason the reason, for the audit; 1 to 1000 characters, no control characters except
     *     for tabs and line breaks
     * @throws SemaphoreNotFoundException if the semaphore does not exist
     * @throws IllegalArgumentException if an argument is invalid
     */
    void setCapacity(String name, int capacity, String changedBy, String reason);

    /**
     * Changes the capacity of all semaphores that patterns have created and whose longest matching pattern is the given one. A capacity
     * that was {@linkplain #setCapacity set by hand}, or by a {@link CapacityProvider}, is kept. Each change is audited.
     *
     * <p>The configured capacity of the pattern does not change: semaphores that the pattern creates later have it, and a start with
     * {@code semaphore.capacity-at-start=apply} restores it for the others. The semaphores are changed in batches, each in its own short
     * transaction. Those that were changed before a failure stay changed; call this method again for the rest.
     *
     * @param pattern a pattern of the settings of this engine
     * @param capacity the new capacity, at least 0
     * @param changedBy the operator, for the audit, as in {@link #setCapacity}
     * @param reason the reason, for the audit, as in {@link #setCapacity}
     * @return how many capacities were changed; a batch whose commit was not answered may be missing
     * @throws IllegalArgumentException if an argument is invalid, or the settings have no such pattern
     */
    int setCapacityOfPattern(String pattern, int capacity, String changedBy, String reason);

    /**
     * Finds the semaphores that {@link #setCapacityOfPattern} would change.
     *
     * @param pattern a pattern of the settings of this engine
     * @param capacity the expected capacity
     * @return those with another capacity
     * @throws IllegalArgumentException if the settings have no such pattern
     */
    OtherCapacities otherCapacities(String pattern, int capacity);

    /**
     * Semaphores of a pattern whose capacity is not the expected one.
     *
     * @param count how many there are
     * @param examples the capacities of up to five of them, by name
     */
    record OtherCapacities(int count, SortedMap<String, Integer> examples) {}

    /**
     * Deletes a semaphore. Its audit is kept until {@link SemaphoreMaintenance#deleteCapacityHistory} deletes it. If the answer to the
     * commit is lost, the method may return false although it has deleted the semaphore.
     *
     * @param name the semaphore
     * @return true if it was deleted; false if it does not exist
     * @throws SemaphoreInUseException if permits of it are held
     * @throws IllegalArgumentException if the name is invalid
     */
    boolean delete(String name);

    /**
     * Returns the current state of a semaphore.
     *
     * @param name the semaphore
     * @return its state; empty if it does not exist
     * @throws IllegalArgumentException if the name is invalid
     */
    Optional<SemaphoreStatus> find(String name);

    /**
     * Returns the current state of all semaphores, ordered by name, except for the semaphore that the library's own
     * maintenance uses.
     *
     * @return the states
     */
    List<SemaphoreStatus> list();

    /**
     * Returns a page of {@link #list()}: semaphores whose name contains a text.
     *
     * @param containing the text, without control characters; case is ignored (on PostgreSQL, for A to Z only); empty for all semaphores
     * @param afterName the name of the last semaphore of the previous page, without control characters; empty for the first page
     * @param limit the maximum number of semaphores, 1 to {@value #MAX_LIMIT}
     * @return the states
     * @throws IllegalArgumentException if an argument is invalid
     */
    List<SemaphoreStatus> list(String containing, String afterName, int limit);

    /**
     * Returns since when callers have waited for permits, and since when permits have been held. Considers the semaphores that
     * {@link #list(String, String, int)} returns for the same arguments, and leaves out those with neither waiting callers nor held
     * permits, unless they are paused.
     *
     * @param containing a part of the names, as in {@link #list(String, String, int)}
     * @param afterName the name of the last semaphore of the previous page, as in {@link #list(String, String, int)}
     * @param limit the maximum number of semaphores that are considered, 1 to {@value #MAX_LIMIT}
     * @return the times, ordered by name
     * @throws IllegalArgumentException if an argument is invalid
     */
    List<SemaphoreStatus.Since> since(String containing, String afterName, int limit);

    /**
     * Counts the acquires, of all semaphores, that were granted within the given time, except those that reused a permit. Counts at most
     * the latest {@value #MAX_LIMIT}.
     *
     * @param last the length of the period that ends now; from 0 to a day
     * @return the number; {@value #MAX_LIMIT} if there are more
     * @throws IllegalArgumentException if the time is negative or longer than a day
     */
    int granted(Duration last);

    /**
     * Returns the holders of permits of a semaphore, ordered by fencing token.
     *
     * @param name the semaphore
     * @return the holders; empty if no permit is held
     * @throws SemaphoreNotFoundException if the semaphore does not exist
     * @throws IllegalArgumentException if the name is invalid
     */
    List<PermitHolder> holders(String name);

    /**
     * Returns a page of {@link #holders(String)}: holders whose owner, label or external id contains a text.
     *
     * @param name the semaphore
     * @param containing the text, without control characters; case is ignored (on PostgreSQL, for A to Z only); empty for all holders
     * @param afterToken the fencing token of the last holder of the previous page; 0 for the first page
     * @param limit the maximum number of holders, 1 to {@value #MAX_LIMIT}
     * @return the holders
     * @throws SemaphoreNotFoundException if the semaphore does not exist
     * @throws IllegalArgumentException if an argument is invalid
     */
    List<PermitHolder> holders(String name, String containing, long afterToken, int limit);

    /**
     * Returns the requests that held permits of a semaphore at any time within a period, the last acquired first. Released
     * requests are found until {@link SemaphoreMaintenance#deleteReleasedRequests} deletes them. At most the last 2,000
     * released requests (or {@code limit}, if that is more) before the end of the period are considered; older requests are
     * found only if they are still held. If more than {@code limit} are found, released requests are left out first, beginning with the
     * earliest.
     *
     * @param name the semaphore
     * @param from the start of the period, by the database's clock
     * @param to the end of the period, by the database's clock; not before {@code from}
     * @param limit the maximum number of requests, 1 to {@value #MAX_LIMIT}
     * @return the requests
     * @throws SemaphoreNotFoundException if the semaphore does not exist
     * @throws IllegalArgumentException if an argument is invalid
     */
    List<PermitUse> requests(String name, Instant from, Instant to, int limit);

    /**
     * Returns the instances with callers that wait for permits of a semaphore, the longest wait first. Instances for which
     * the semaphore is not {@linkplain io.dbsemaphore.config.SemaphoreSettings#FAIR fair} (by default it is) are missing.
     *
     * @param name the name of the semaphore
     * @return the instances with waiting callers
     * @throws SemaphoreNotFoundException if the semaphore does not exist
     * @throws IllegalArgumentException if the name is invalid
     */
    List<WaitingInstance> waiting(String name);

    /**
     * Returns the callers that wait for permits of a semaphore, the next one first: the first 16 of each instance, at most 8 of them
     * waiting for several semaphores, as the instances last reported them. With shares, of each instance: the first 16, and the first
     * caller of each further share, up to 64 callers in all. Instances for which the semaphore is not
     * {@linkplain io.dbsemaphore.config.SemaphoreSettings#FAIR fair} are missing.
     *
     * @param name the name of the semaphore
     * @param limit how many callers at most, from 1 to {@value #MAX_LIMIT}
     * @return the callers
     * @throws SemaphoreNotFoundException if the semaphore does not exist
     * @throws IllegalArgumentException if an argument is invalid
     */
    List<WaitingCaller> waitingCallers(String name, int limit);

    /**
     * Returns the shares that hold permits of a semaphore or wait for them, those with the most permits first, then those with the most
     * waiting callers. Grants of versions without shares are missing.
     *
     * @param name the name of the semaphore
     * @param limit how many shares at most, from 1 to {@value #MAX_LIMIT}
     * @return the shares
     * @throws SemaphoreNotFoundException if the semaphore does not exist
     * @throws IllegalArgumentException if an argument is invalid
     */
    List<ShareStatus> shares(String name, int limit);

    /**
     * Returns the registered instances of all applications that use this database, the last started first; at most {@value #MAX_LIMIT}. An
     * instance is registered from its first kept-alive grant until it stops. One that has crashed is listed for a day after its lease
     * expired, and then until the next clean-up of requests (every 4 hours by default).
     *
     * @return the instances
     */
    List<InstanceStatus> instances();

    /**
     * Returns the database's clock, to which all times of this interface refer.
     *
     * @return the current time
     */
    Instant now();

    /**
     * Returns the latest entries of the audit of a semaphore, newest first.
     *
     * @param name the name of the semaphore
     * @param limit the maximum number of entries, 1 to {@value #MAX_LIMIT}
     * @return the entries
     * @throws IllegalArgumentException if an argument is invalid
     */
    List<CapacityChange> capacityHistory(String name, int limit);

    /**
     * Returns the audit of a semaphore, newest entry first, including that of deleted semaphores with this name.
     *
     * @param name the semaphore
     * @return the entries
     * @throws IllegalArgumentException if the name is invalid
     */
    List<CapacityChange> capacityHistory(String name);

    /**
     * Returns the latest reclaims of a semaphore's permits, newest first: for example, their time to live had passed, or the instance that
     * kept them alive was gone. The holder, if still there, has lost them. Reclaims are found until
     * {@link SemaphoreMaintenance#deleteReleasedRequests} deletes them.
     *
     * @param name the name of the semaphore
     * @param limit the maximum number of reclaims, 1 to {@value #MAX_LIMIT}
     * @return the reclaims
     * @throws IllegalArgumentException if an argument is invalid
     */
    List<Reclaim> reclaims(String name, int limit);

    /**
     * Permits that the library reclaimed.
     *
     * @param name the name of the semaphore
     * @param externalId the external id of the request that held them
     * @param owner the owner of the request
     * @param permits how many permits of the semaphore it held
     * @param reason why they were taken back, as a sentence for operators
     * @param reclaimedAt when, by the database's clock
     */
    record Reclaim(String name, String externalId, String owner, int permits, String reason, Instant reclaimedAt) {}

    /**
     * Releases all permits of a request, regardless of its holder, and audits that. A holder that is still working is not
     * stopped: only its fencing tokens and {@link SemaphoreOperations#requireHeld} prevent it from doing harm.
     *
     * <p>If this JVM holds the grant, its listeners are notified of the loss. Another JVM that keeps the grant alive finds out at its
     * next heartbeat, within a sixth of {@code semaphore.instance-timeout} (about 3 seconds by default): then
     * {@link PermitGrant#isHeld} is false there, and the listeners are notified. For a grant that is not kept alive, {@code isHeld} stays
     * true until the grant is renewed or checked, or its TTL has passed.
     *
     * <p>Waits up to {@code semaphore.jdbc.lock-wait-timeout} (5 seconds) for transactions that have locked the request, for
     * example those that have checked it with {@link SemaphoreOperations#requireHeld}.
     *
     * @param externalId the external id of the request
     * @param releasedBy the operator, for the audit; 1 to 190 characters, no control characters
     * @param reason the reason, for the audit; 1 to 1000 characters, no control characters except
     *     for tabs and line breaks
     * @return the outcome of the release
     * @throws org.springframework.dao.CannotAcquireLockException if another transaction kept the request locked for
     *     longer than that; nothing was released
     * @throws IllegalArgumentException if an argument is invalid
     */
    ReleaseOutcome forceRelease(String externalId, String releasedBy, String reason);

    /**
     * A request that holds or held permits of a semaphore. All times are by the database's clock.
     *
     * @param externalId the external id of the request
     * @param owner the owner
     * @param label what held the permits; empty if the request has no label or its permits could be reused
     * @param count the number of permits
     * @param fencingToken the fencing token of the grant for this semaphore
     * @param acquiredAt when the permits were acquired
     * @param releasedAt when they were released, or reclaimed after they had expired; empty if they are held
     * @param expiresAt when they expire unless renewed, or would have expired; empty if they are held until released
     */
    record PermitUse(
            String externalId,
            String owner,
            Optional<String> label,
            int count,
            long fencingToken,
            Instant acquiredAt,
            Optional<Instant> releasedAt,
            Optional<Instant> expiresAt) {}
}
