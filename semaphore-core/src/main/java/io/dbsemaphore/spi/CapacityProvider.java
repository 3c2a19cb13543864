package io.dbsemaphore.spi;

import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.admin.CapacityUnknownException;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreMaintenance;
import java.util.OptionalInt;

/**
 * Gives the capacity of a semaphore that a pattern creates, from data of the application such as the plan of a tenant. Declare providers as
 * beans. If there are several, they are asked in order until one gives a capacity. An application without the starter passes its providers
 * to its {@code SemaphoreEngine}.
 *
 * <p><b>When.</b> A provider is asked before an acquire creates a semaphore. {@link SemaphoreMaintenance#releaseOrphans}, every 5 minutes by
 * default and on one instance at a time, asks again about all semaphores that patterns have created, and applies the answers that have
 * changed. Each change is audited as a {@link CapacityChange} by the operator {@code CapacityProvider}, and revokes no permits. The
 * maintenance asks about one semaphore after the other for at most half of {@code semaphore.maintenance.orphan-release-interval}, and next
 * time resumes where it stopped.
 *
 * <p><b>Precedence.</b> A capacity that was set by hand is kept, and providers are not asked about it. A capacity that a provider gives
 * takes precedence over that of the pattern: neither {@link SemaphoreAdmin#setCapacityOfPattern} nor {@code semaphore.capacity-at-start}
 * changes it.
 *
 * <p><b>Threads.</b> Called on threads of the library ({@code semaphore-application-N}), up to eight at the same time, and by one thread at a
 * time for each name. No transaction is open on them, and no connection of the library is in use: a provider may read from the
 * same database. It must not acquire permits of semaphores that patterns may have to create.
 *
 * <p><b>Failures.</b> A provider fails if it throws an exception, returns a negative capacity, or does not answer in time. An acquire then
 * throws a {@link CapacityUnknownException}: the semaphore is not created, and nothing is acquired. The maintenance logs one warning, and
 * the semaphores keep their capacities. An acquire waits for the answer up to its wait time plus {@code semaphore.jdbc.decision-timeout} (5
 * seconds), the maintenance up to that timeout. Give calls to other systems a shorter timeout.
 */
@FunctionalInterface
public interface CapacityProvider {

    /**
     * Returns the capacity of a semaphore.
     *
     * @param name the name of the semaphore, which a pattern matches
     * @return the capacity, at least 0; 0 pauses the semaphore. Empty to use the capacity of the pattern, for example if the application
     *     does not know the name
     */
    OptionalInt capacityOf(String name);
}
