package io.dbsemaphore;

import org.jspecify.annotations.Nullable;

/**
 * Work that runs while permits are held.
 *
 * @param <T> the type of the result
 * @param <X> the exception that the work declares
 */
@FunctionalInterface
public interface PermitCallback<T extends @Nullable Object, X extends Throwable> {

    /**
     * Does the work. Called once, on the thread that acquired, while the grant is held.
     *
     * @param grant the grant that the work runs under
     * @return the result
     * @throws X if the work fails; passed to the caller
     */
    T doWithPermits(PermitGrant grant) throws X;
}
