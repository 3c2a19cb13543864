package io.dbsemaphore.aop;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreOperations;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Guards a method whose work ends when the future that it returns completes. It acquires and calls the method on the
 * calling thread, and throws what the acquire throws.
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
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        AcquireRequest request = requests.create(invocation);
        PermitGrant grant;
        try {
            grant = operations.get().acquire(request);
        } catch (PermitsUnavailableException refused) {
            return refusal.answer(invocation, refused);
        }
        return GuardedFuture.start(invocation, grant, releases);
    }
}
