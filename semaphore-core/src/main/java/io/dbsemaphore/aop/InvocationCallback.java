package io.dbsemaphore.aop;

import io.dbsemaphore.PermitCallback;
import io.dbsemaphore.PermitGrant;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** Calls the guarded method, and records that it was called. */
final class InvocationCallback implements PermitCallback<@Nullable Object, Throwable> {

    private final MethodInvocation invocation;
    private boolean begun;

    InvocationCallback(MethodInvocation invocation) {
        this.invocation = invocation;
    }

    @Override
    @SuppressWarnings("NullAway") // T is @Nullable Object, which only its JSpecify mode understands
    public @Nullable Object doWithPermits(PermitGrant grant) throws Throwable {
        begun = true;
        return invocation.proceed();
    }

    boolean hasBegun() {
        return begun;
    }
}
