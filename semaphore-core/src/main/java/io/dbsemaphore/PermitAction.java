package io.dbsemaphore;

/**
 * Work without a result that runs while permits are held.
 *
 * @param <X> the exception that the work declares
 */
@FunctionalInterface
public interface PermitAction<X extends Throwable> {

    /**
     * Does the work. Called once, on the thread that acquired, while the grant is held.
     *
     * @param grant the grant that the work runs under
     * @throws X if the work fails; passed to the caller
     */
    void doWithPermits(PermitGrant grant) throws X;
}
