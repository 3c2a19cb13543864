package io.dbsemaphore.aop;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitCallback;
import io.dbsemaphore.PermitsUnavailableException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** Guards a method whose work ends when it returns. Acquires, calls the method and releases on the calling thread. */
final class SynchronousGuard extends MethodGuard {

    private final boolean returnsAnything;

    SynchronousGuard(Parts parts) {
        super(parts);
        this.returnsAnything = parts.annotated().returnType().toClass() == Object.class;
    }

    @Override
    @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        AcquireRequest request = parts.requests().create(invocation);
        AtomicBoolean begun = new AtomicBoolean();
        PermitCallback<@Nullable Object, Throwable> work = grant -> {
            begun.set(true);
            return proceeding(invocation).doWithPermits(grant);
        };
        Object result;
        try {
            result = parts.operations().get().execute(request, work);
            if (!begun.get()) {
                throw parts.annotated()
                        .refuse(
                                "the SemaphoreOperations of the application returned without calling it, as a mock does. Use a"
                                        + " spy (@MockitoSpyBean), or semaphore.enabled=false");
            }
        } catch (PermitsUnavailableException refused) {
            if (begun.get()) {
                // of another acquire within the method
                throw refused;
            }
            result = parts.refusal().answer(invocation, refused);
        }
        if (returnsAnything && result != null) {
            ReturnTypes.requireEnded(parts.annotated(), result);
        }
        return result;
    }
}
