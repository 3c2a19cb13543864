package io.dbsemaphore;

import java.util.List;
import java.util.Optional;

/**
 * What operators do: make semaphores, change capacities, see who holds what. A bean, safe for use by any number of
 * threads; each method runs in a transaction of its own.
 */
public interface SemaphoreAdmin {

    /**
     * Creates a semaphore.
     *
     * @param capacity at least 0; 0 is a paused semaphore
     * @return false, and nothing changed, if it exists
     */
    boolean create(String name, int capacity);

    /**
     * Changes a capacity, for all instances, from the next acquire on. Below what is held nothing is revoked: the
     * semaphore drains. 0 pauses it. Each change leaves a {@link CapacityChange}.
     *
     * @throws SemaphoreNotFoundException when it does not exist
     */
    void setCapacity(String name, int capacity, String changedBy, String reason);

    /**
     * Deletes a semaphore; its capacity history stays.
     *
     * @return false if it does not exist
     * @throws SemaphoreInUseException while permits are held
     */
    boolean delete(String name);

    /** One semaphore as it stands. */
    Optional<SemaphoreStatus> find(String name);

    /** All semaphores as they stand, by name; without the one under which the library's own maintenance works. */
    List<SemaphoreStatus> list();

    /**
     * Who holds permits of this semaphore, in the order of their tokens.
     *
     * @throws SemaphoreNotFoundException when it does not exist
     */
    List<PermitHolder> holders(String name);

    /** The changes of a capacity, newest first; also those of a semaphore that was deleted. */
    List<CapacityChange> capacityHistory(String name);

    /**
     * Takes the permits of a request away from whoever holds them. A holder that is still at work goes on without
     * them: only its fencing tokens and {@link SemaphoreOperations#requireHeld} stop it. Audited.
     */
    ReleaseOutcome forceRelease(String externalId, String releasedBy, String reason);
}
