package io.dbsemaphore.aop;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreOperations;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;

/**
 * Guards a method whose work ends when the future that it returns completes. Without a wait time it acquires and calls
 * the method on the calling thread. With a wait time it returns at once without blocking a thread, and the method is
 * called on a thread of the library when the permits are held.
 */
final class FutureGuard implements MethodGuard {

    private final Supplier<SemaphoreOperations> operations;
    private final RequestFactory requests;
    private final Refusal refusal;
    private final Executor releases;

    FutureGuard(Supplier<SemaphoreOperations> operations, RequestFactory requests, Refusal refusal, Executor releases) {
        this.operations = operations;
        this.requests = requests;
        this.refusal = refusal;
        this.releases = releases;
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // it is returned
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        AcquireRequest request = requests.create(invocation);
        if (!request.waitTime().isZero()) {
            MethodInvocation call = ((ProxyMethodInvocation) invocation).invocableClone();
            return AwaitedFuture.of(operations.get().acquireAsync(request), call, refusal, releases);
        }
        PermitGrant grant;
        try {
            grant = operations.get().acquire(request);
        } catch (PermitsUnavailableException refused) {
            return refusal.answer(invocation, refused);
        }
        return GuardedFuture.start(invocation, grant, releases);
    }
}
