package io.dbsemaphore.aop;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreOperations;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** Guards a method whose work ends when it returns. Acquires, calls the method and releases on the calling thread. */
final class SynchronousGuard implements MethodGuard {

    private final Supplier<SemaphoreOperations> operations;
    private final RequestFactory requests;
    private final Refusal refusal;

    SynchronousGuard(Supplier<SemaphoreOperations> operations, RequestFactory requests, Refusal refusal) {
        this.operations = operations;
        this.requests = requests;
        this.refusal = refusal;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        AcquireRequest request = requests.create(invocation);
        Proceeding call = new Proceeding(invocation);
        try {
            return operations.get().execute(request, call);
        } catch (PermitsUnavailableException refused) {
            if (call.hasBegun()) {
                // Thrown by the method itself: another acquire within it was refused
                throw refused;
            }
            return refusal.answer(invocation, refused);
        }
    }
}
