package io.dbsemaphore;

/**
 * Work without a result to be done while permits are held.
 *
 * @param <X> the exception the work declares
 */
@FunctionalInterface
public interface PermitAction<X extends Throwable> {

    /** Does the work. Called once, on the thread that acquired, with the grant held. */
    void doWithPermits(PermitGrant grant) throws X;
}
