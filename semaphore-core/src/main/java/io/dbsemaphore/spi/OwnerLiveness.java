package io.dbsemaphore.spi;

import io.dbsemaphore.admin.SemaphoreMaintenance;

/**
 * Reports whether an owner still exists, for grants whose time to live cannot show it, such as jobs that are registered
 * without one. Beans of this type are asked by {@link SemaphoreMaintenance#releaseOrphans}; if there are several, the
 * first answer other than {@link Liveness#UNKNOWN} counts.
 *
 * <p>Called on the thread that runs the maintenance, outside any transaction. An exception is logged and counts as
 * {@link Liveness#UNKNOWN}.
 */
@FunctionalInterface
public interface OwnerLiveness {

    /**
     * Reports whether the owner exists. The permits of an owner are released if it is reported {@link Liveness#DEAD}
     * twice in a row, at least {@code semaphore.maintenance.owner-grace} (30 seconds) apart. {@link Liveness#UNKNOWN}
     * never releases anything.
     *
     * @param owner the owner as the request gave it
     * @return the state of the owner
     */
    Liveness check(String owner);
}
