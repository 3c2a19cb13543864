package io.dbsemaphore.aop;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** Delegates a call to the guard of its method. */
final class WithPermitsInterceptor implements MethodInterceptor {

    private final GuardRegistry guards;

    WithPermitsInterceptor(GuardRegistry guards) {
        this.guards = guards;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object target = invocation.getThis();
        // The class that the pointcut was asked about: a target may be a proxy of interfaces that its own target lacks
        Class<?> targetClass = target == null ? invocation.getMethod().getDeclaringClass() : target.getClass();
        MethodGuard guard = guards.find(invocation.getMethod(), targetClass)
                .orElseThrow(() -> new IllegalStateException(
                        "No @WithPermits applies to " + invocation.getMethod() + " of " + targetClass.getName()));
        return guard.invoke(invocation);
    }
}
