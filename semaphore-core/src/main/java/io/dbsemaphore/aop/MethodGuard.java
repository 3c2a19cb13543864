package io.dbsemaphore.aop;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** Acquires before the calls of one method and releases when their work has ended. Safe for use by several threads. */
@FunctionalInterface
interface MethodGuard {

    /**
     * Calls the method under its permits.
     *
     * @throws Throwable what the method threw, unchanged, or why it was not called
     */
    @Nullable Object invoke(MethodInvocation invocation) throws Throwable;
}
