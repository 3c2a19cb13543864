package io.dbsemaphore.aop;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.Permits;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreOperations;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
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
 * subscription, on {@code boundedElastic}, under the grant that the subscription has acquired. The request is created
 * when the method is called; if that fails, so does each subscription.
 */
final class ReactiveGuard implements MethodGuard {

    private final Supplier<SemaphoreOperations> operations;
    private final RequestFactory requests;
    private final Refusal refusal;
    private final ReactiveAdapter adapter;
    private final Scheduler releases;

    ReactiveGuard(
            Supplier<SemaphoreOperations> operations,
            RequestFactory requests,
            Refusal refusal,
            ReactiveAdapter adapter,
            Executor releases) {
        this.operations = operations;
        this.requests = requests;
        this.refusal = refusal;
        this.adapter = adapter;
        this.releases = Schedulers.fromExecutor(releases);
    }

    @Override
    public Object invoke(MethodInvocation invocation) {
        AcquireRequest request;
        try {
            request = requests.create(invocation);
        } catch (Exception failure) {
            return adapter.fromPublisher(adapter.isMultiValue() ? Flux.error(failure) : Mono.error(failure));
        }
        // An invocation can proceed only once, so each subscription uses a clone of this one
        ProxyMethodInvocation call = (ProxyMethodInvocation) ((ProxyMethodInvocation) invocation).invocableClone();
        Mono<SubscriptionGrant> grants =
                Mono.fromSupplier(() -> new SubscriptionGrant(operations.get(), request, releases));
        return adapter.fromPublisher(
                adapter.isMultiValue()
                        ? Flux.usingWhen(
                                grants,
                                held -> work(held, call).flatMapMany(publisher -> publisher),
                                SubscriptionGrant::end,
                                SubscriptionGrant::endAfter,
                                SubscriptionGrant::end)
                        : Mono.usingWhen(
                                grants,
                                held -> work(held, call).flatMap(Mono::from),
                                SubscriptionGrant::end,
                                SubscriptionGrant::endAfter,
                                SubscriptionGrant::end));
    }

    private Mono<Publisher<Object>> work(SubscriptionGrant held, ProxyMethodInvocation call) {
        return held.acquire()
                .<Body>map(grant -> () -> Permits.callHolding(grant, new Proceeding(call.invocableClone())))
                .onErrorResume(
                        PermitsUnavailableException.class,
                        refused -> Mono.<Body>just(() -> refusal.answer(call, refused)))
                .publishOn(Schedulers.boundedElastic())
                .map(this::publisher);
    }

    private Publisher<Object> publisher(Body body) {
        try {
            return adapter.toPublisher(body.run());
        } catch (Throwable failure) {
            Exceptions.throwIfJvmFatal(failure);
            return Mono.error(failure);
        }
    }

    /** The method, or its replacement. */
    @FunctionalInterface
    private interface Body {

        @Nullable Object run() throws Throwable;
    }
}
