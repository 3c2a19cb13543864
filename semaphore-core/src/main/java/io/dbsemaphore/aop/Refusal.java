package io.dbsemaphore.aop;

import io.dbsemaphore.PermitsUnavailableException;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** Handles a call whose acquire was refused. */
@FunctionalInterface
interface Refusal {

    /**
     * Handles the call in place of the method.
     *
     * @return the result; {@code null} if there is none
     * @throws Throwable the exception to throw to the caller
     */
    @Nullable Object answer(MethodInvocation invocation, PermitsUnavailableException refused) throws Throwable;
}
