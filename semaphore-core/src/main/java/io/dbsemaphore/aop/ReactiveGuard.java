package io.dbsemaphore.aop;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
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
 * Guards a method whose work is done when what it returns is subscribed to. The method itself is called by each
 * subscription, on {@code boundedElastic}, under the grant that the subscription has acquired; its request is made when
 * the method is called.
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
        AcquireRequest request = requests.create(invocation);
        // A call proceeds once only, and each subscription is to be a call: they are all made from this one
        ProxyMethodInvocation call = (ProxyMethodInvocation) ((ProxyMethodInvocation) invocation).invocableClone();
        Mono<Lease> leases = Mono.fromSupplier(() -> new Lease(operations.get(), request, releases));
        return adapter.fromPublisher(
                adapter.isMultiValue()
                        ? Flux.usingWhen(
                                leases,
                                lease -> attempt(lease, call).flatMapMany(Attempt::publisher),
                                Lease::end,
                                Lease::endAfter,
                                Lease::end)
                        : Mono.usingWhen(
                                leases,
                                lease -> attempt(lease, call).flatMap(attempt -> Mono.from(attempt.publisher())),
                                Lease::end,
                                Lease::endAfter,
                                Lease::end));
    }

    private Mono<Attempt> attempt(Lease lease, ProxyMethodInvocation call) {
        return lease.acquire()
                .map(grant -> granted(call, grant))
                .onErrorResume(PermitsUnavailableException.class, refused -> Mono.just(refused(call, refused)))
                .publishOn(Schedulers.boundedElastic());
    }

    private Attempt granted(ProxyMethodInvocation call, PermitGrant grant) {
        return () -> publisher(() -> Permits.callHolding(grant, new Proceeding(call.invocableClone())));
    }

    private Attempt refused(ProxyMethodInvocation call, PermitsUnavailableException refused) {
        return () -> publisher(() -> refusal.answer(call, refused));
    }

    private Publisher<Object> publisher(Body body) {
        try {
            return adapter.toPublisher(body.run());
        } catch (Throwable failure) {
            Exceptions.throwIfJvmFatal(failure);
            return Mono.error(failure);
        }
    }

    /** An acquire that was granted or refused: what is to be subscribed to next. */
    @FunctionalInterface
    private interface Attempt {

        Publisher<Object> publisher();
    }

    /** The method, or what answers in its place. */
    @FunctionalInterface
    private interface Body {

        @Nullable Object run() throws Throwable;
    }
}
