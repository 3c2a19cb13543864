package io.dbsemaphore.aop;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** Acquires permits before calls of one method and releases them when the work has ended. Thread-safe. */
@FunctionalInterface
interface MethodGuard {

    /**
     * Calls the method under its permits.
     *
     * @throws Throwable the exception of the method, unchanged, or the reason why it was not called
     */
    @Nullable Object invoke(MethodInvocation invocation) throws Throwable;
}
