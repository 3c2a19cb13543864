package io.dbsemaphore.aop;

import io.dbsemaphore.PermitCallback;
import io.dbsemaphore.SemaphoreOperations;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;

/**
 * Acquires permits before calls of one method, and releases them when the work has ended. Each subclass decides when that is. A
 * failure of the release does not change the outcome of the work. Thread-safe.
 */
abstract class MethodGuard {

    final Parts parts;

    /**
     * The parts of a guard.
     *
     * @param threads release the permits, and call the method or its fallback after an asynchronous acquire
     */
    record Parts(
            AnnotatedMethod annotated,
            Supplier<SemaphoreOperations> operations,
            RequestTemplate requests,
            Refusal refusal,
            Executor threads) {}

    MethodGuard(Parts parts) {
        this.parts = parts;
    }

    /**
     * Calls the method under its permits.
     *
     * @throws Throwable the exception of the method, unchanged, or the reason why it was not called
     */
    abstract @Nullable Object invoke(MethodInvocation invocation) throws Throwable;

    /** The method as work under permits. Aspects of the application find the invocation even if another thread calls the method. */
    @SuppressWarnings("NullAway") // T is @Nullable Object, which only its JSpecify mode understands
    static PermitCallback<@Nullable Object, Throwable> proceeding(MethodInvocation invocation) {
        return grant -> ExposeInvocationInterceptor.INSTANCE.invoke(invocation);
    }
}
