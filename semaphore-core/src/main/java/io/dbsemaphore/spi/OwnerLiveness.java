package io.dbsemaphore.spi;

import io.dbsemaphore.admin.SemaphoreMaintenance;

/**
 * Reports whether an owner still exists, for grants whose time to live cannot show it, such as jobs that are registered
 * without one. Beans of this type are asked by {@link SemaphoreMaintenance#releaseOrphans} about every owner that holds permits,
 * application instances included; if there are several, the first answer other than {@link Liveness#UNKNOWN} counts.
 *
 * <p>Called on the thread that runs the maintenance, outside any transaction. An exception is logged and counts as
 * {@link Liveness#UNKNOWN}.
 */
@FunctionalInterface
public interface OwnerLiveness {

    /**
     * Reports whether the owner exists. If it is reported {@link Liveness#DEAD} twice in a row, at least
     * {@code semaphore.maintenance.owner-grace} (30 seconds) apart, the permits that it has acquired or renewed before the first time are
     * released, whatever their time to live is. {@link Liveness#UNKNOWN} never releases anything; it is the answer for
     * owners that the application does not know.
     *
     * @param owner the owner as the request gave it
     * @return the state of the owner
     */
    Liveness check(String owner);
}
