package io.dbsemaphore;

import org.jspecify.annotations.Nullable;

/**
 * Work to be done while permits are held.
 *
 * @param <T> what the work returns
 * @param <X> the exception the work declares
 */
@FunctionalInterface
public interface PermitCallback<T extends @Nullable Object, X extends Throwable> {

    /** Does the work. Called once, on the thread that acquired, with the grant held. */
    T doWithPermits(PermitGrant grant) throws X;
}
