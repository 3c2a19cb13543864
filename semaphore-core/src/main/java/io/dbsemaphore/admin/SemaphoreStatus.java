package io.dbsemaphore.admin;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The current state of a semaphore.
 *
 * @param name the name
 * @param capacity how many permits may be held at once; 0 if it is paused
 * @param held how many permits are held; may exceed a capacity that was lowered, until enough are released
 * @param available how many permits are not held; 0 while one caller has all of them
 * @param requests how many acquires hold permits
 * @param waiting how many callers wait for permits, in all instances for which the semaphore is
 *     {@linkplain io.dbsemaphore.config.SemaphoreSettings#FAIR fair}
 */
public record SemaphoreStatus(String name, int capacity, long held, long available, long requests, long waiting) {

    /**
     * Creates a status without waiting callers.
     *
     * @param name the name
     * @param capacity how many permits may be held at once
     * @param held how many permits are held
     * @param available how many permits are not held; 0 while one caller has all of them
     * @param requests how many acquires hold permits
     */
    public SemaphoreStatus(String name, int capacity, long held, long available, long requests) {
        this(name, capacity, held, available, requests, 0);
    }

    /**
     * The callers of one application instance that wait for permits of a semaphore.
     *
     * @param instance the id of the instance
     * @param name the owner name of the instance, by default {@code application@host:pid}
     * @param since when the first of them arrived, or was first refused if its arrival is not known, by the database's clock
     * @param callers how many callers wait; updated about three times a second
     */
    public record WaitingInstance(long instance, String name, Instant since, int callers) {}

    /**
     * A caller that waits for permits of a semaphore.
     *
     * @param instance the id of its instance
     * @param name the owner name of its instance
     * @param ahead how many callers are ahead of it
     * @param isLowerBound whether more may be ahead: only the first 16 callers of an instance are known; with shares also the first
     *     caller of each further share, up to 64 callers in all
     * @param since when it arrived, or was first refused if its arrival is not known, by the database's clock
     * @param permits how many permits it waits for; 0 if exclusive
     * @param exclusive whether it waits for the whole capacity
     * @param several whether it waits for permits of other semaphores, too
     * @param headStart its head start; empty if it has none
     * @param share the share by which permits are shared out; empty if it has none
     */
    public record WaitingCaller(
            long instance,
            String name,
            long ahead,
            boolean isLowerBound,
            Instant since,
            int permits,
            boolean exclusive,
            boolean several,
            Optional<Duration> headStart,
            Optional<String> share) {}

    /**
     * A share of a semaphore.
     *
     * @param share the share, {@code tenant} or {@code tenant/key}
     * @param held how many permits its callers hold
     * @param waiting how many of its callers wait, of those that the instances have reported
     * @param isLowerBound whether more of its callers may wait
     * @param tenantWeight the weight of its tenant, as the instances with waiting callers know it; if there are none, as this one does
     * @param weight the weight of its key within the tenant, likewise; 1 if it has no key
     */
    public record ShareStatus(
            String share, long held, long waiting, boolean isLowerBound, int tenantWeight, int weight) {}

    /**
     * Since when callers have waited for permits of a semaphore, and since when permits have been held, by the database's clock.
     *
     * @param name the name
     * @param waitingSince when the first of the callers that wait in any instance arrived, or was first refused if its arrival is not
     *     known; empty if nobody waits
     * @param heldSince when the oldest holder acquired its permits; empty if no permit is held
     * @param pausedCapacity the capacity before the pause; empty if the semaphore is not paused or was created paused, or if its audit was
     *     deleted
     */
    public record Since(
            String name,
            Optional<Instant> waitingSince,
            Optional<Instant> heldSince,
            Optional<Integer> pausedCapacity) {}
}
