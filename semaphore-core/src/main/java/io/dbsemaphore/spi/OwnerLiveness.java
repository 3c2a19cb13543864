package io.dbsemaphore.spi;

/**
 * Reports whether an owner still exists, for example the owner of a job that is registered without a time to live.
 * {@code SemaphoreMaintenance.releaseOrphans} asks the beans of this type about every owner that holds permits, application instances
 * included. If there are several beans, the first answer other than {@link Liveness#UNKNOWN} applies.
 *
 * <p>Called on the thread that runs the maintenance, outside any transaction. An exception is logged and counts as
 * {@link Liveness#UNKNOWN}.
 */
@FunctionalInterface
public interface OwnerLiveness {

    /**
     * Reports whether the owner exists. If it is reported {@link Liveness#DEAD} twice in a row, at least
     * {@code semaphore.maintenance.owner-grace} (30 seconds) apart, the permits that it acquired or renewed before the first report are
     * released, whatever their time to live. Return {@link Liveness#UNKNOWN} for owners that the application does not know: they keep
     * their permits.
     *
     * @param owner the owner as the request gave it
     * @return the state of the owner
     */
    Liveness check(String owner);
}
