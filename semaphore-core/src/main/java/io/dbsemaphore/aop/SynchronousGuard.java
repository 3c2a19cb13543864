package io.dbsemaphore.aop;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreOperations;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** Guards a method whose work ends when it returns. Acquires, calls the method and releases on the calling thread. */
final class SynchronousGuard extends MethodGuard {

    private final AnnotatedMethod annotated;
    private final boolean returnsAnything;

    SynchronousGuard(
            AnnotatedMethod annotated,
            Supplier<SemaphoreOperations> operations,
            RequestTemplate requests,
            Refusal refusal) {
        super(operations, requests, refusal);
        this.annotated = annotated;
        this.returnsAnything = annotated.returnType().toClass() == Object.class;
    }

    @Override
    @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object result = call(invocation);
        if (returnsAnything && result != null) {
            ReturnTypes.requireEnded(annotated, result);
        }
        return result;
    }

    private @Nullable Object call(MethodInvocation invocation) throws Throwable {
        AcquireRequest request = requests.create(invocation);
        InvocationCallback call = new InvocationCallback(invocation);
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
