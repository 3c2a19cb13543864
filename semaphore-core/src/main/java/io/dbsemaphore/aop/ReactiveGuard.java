package io.dbsemaphore.aop;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.Permits;
import io.dbsemaphore.PermitsUnavailableException;
import java.util.concurrent.CompletableFuture;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.core.ReactiveAdapter;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Guards a method whose work is done when the publisher that it returns is subscribed to. The method is called for each
 * subscription, on {@code boundedElastic}, under the grant that the subscription has acquired. The release runs on a thread
 * of this library, since the thread that ends the subscription may be an event loop. The request is created when the method
 * is called; if that fails, so does each subscription.
 */
final class ReactiveGuard extends MethodGuard {

    private final ReactiveAdapter adapter;
    private final Scheduler releases;

    ReactiveGuard(Parts parts, ReactiveAdapter adapter) {
        super(parts);
        this.adapter = adapter;
        this.releases = Schedulers.fromExecutor(parts.threads());
    }

    @Override
    Object invoke(MethodInvocation invocation) {
        AcquireRequest request;
        try {
            request = parts.requests().create(invocation);
        } catch (Exception failure) {
            return adapter.fromPublisher(Mono.error(failure));
        }
        // An invocation can proceed only once, so each subscription uses a clone of this one
        ProxyMethodInvocation call = (ProxyMethodInvocation) ((ProxyMethodInvocation) invocation).invocableClone();
        Flux<Object> guarded = Flux.usingWhen(
                Mono.fromSupplier(() -> parts.operations().get().acquireAsync(request)),
                acquire -> Mono.fromFuture(acquire, true)
                        .publishOn(Schedulers.boundedElastic())
                        .map(grant -> publisher(() -> Permits.callHolding(grant, proceeding(call.invocableClone()))))
                        .onErrorResume(
                                PermitsUnavailableException.class,
                                refused -> Mono.just(
                                        publisher(() -> parts.refusal().answer(call, refused))))
                        .flatMapMany(publisher -> publisher),
                this::end);
        // A single value is passed on when the permits are released
        return adapter.fromPublisher(adapter.isMultiValue() ? guarded : guarded.singleOrEmpty());
    }

    private Publisher<Object> publisher(Body body) {
        try {
            return adapter.toPublisher(body.run());
        } catch (Throwable failure) {
            Exceptions.throwIfJvmFatal(failure);
            return Mono.error(failure);
        }
    }

    /**
     * Ends the acquire of a subscription that has ended, also by a cancellation: cancels it, or releases the grant that it has got. Never
     * fails.
     */
    private Mono<Void> end(CompletableFuture<PermitGrant> acquire) {
        boolean unused = acquire.cancel(true);
        return acquire.isCompletedExceptionally()
                ? Mono.empty()
                : Mono.<Void>fromRunnable(acquire.join()::close).subscribeOn(releases);
    }

    /** The method, or its replacement. */
    @FunctionalInterface
    private interface Body {

        @Nullable Object run() throws Throwable;
    }
}
