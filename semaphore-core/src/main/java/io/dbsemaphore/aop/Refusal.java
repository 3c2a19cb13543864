package io.dbsemaphore.aop;

import io.dbsemaphore.PermitsUnavailableException;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** What becomes of a call whose own acquire was refused. */
@FunctionalInterface
interface Refusal {

    /**
     * Answers the call in place of the method.
     *
     * @return what to return; {@code null} where there is nothing
     * @throws Throwable what to throw
     */
    @Nullable Object answer(MethodInvocation invocation, PermitsUnavailableException refused) throws Throwable;
}
