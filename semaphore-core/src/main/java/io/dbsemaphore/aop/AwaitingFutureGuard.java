package io.dbsemaphore.aop;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreOperations;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInvocation;
import org.springframework.aop.ProxyMethodInvocation;

/**
 * Guards a method that has a wait time and whose work ends when the future that it returns completes. It returns a future
 * at once without blocking a thread, and the method is called on a thread of the library when the permits are held. If
 * the acquire fails, so does the future.
 */
final class AwaitingFutureGuard implements MethodGuard {

    private final Supplier<SemaphoreOperations> operations;
    private final RequestFactory requests;
    private final Refusal refusal;
    private final Executor threads;

    AwaitingFutureGuard(
            Supplier<SemaphoreOperations> operations, RequestFactory requests, Refusal refusal, Executor threads) {
        this.operations = operations;
        this.requests = requests;
        this.refusal = refusal;
        this.threads = threads;
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // it is returned
    public Object invoke(MethodInvocation invocation) {
        MethodInvocation call = ((ProxyMethodInvocation) invocation).invocableClone();
        try {
            AcquireRequest request = requests.create(invocation);
            return AwaitedFuture.of(operations.get().acquireAsync(request), call, refusal, threads);
        } catch (Exception failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }
}
