package io.dbsemaphore.aop;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.Permits;
import io.dbsemaphore.PermitsUnavailableException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.core.ReactiveAdapter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Guards a method that returns a publisher, whose subscriptions do the work. Each subscription acquires, and then calls the
 * method on {@code boundedElastic}. The release runs on a thread of this library, since the thread that ends the subscription
 * may be an event loop. The request is created when the method is called; if that fails, so does each subscription.
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
                Mono.fromSupplier(() -> new Subscription(request)),
                it -> it.work(call).flatMapMany(publisher -> publisher),
                Subscription::end);
        // singleOrEmpty passes the value on after the release
        return adapter.fromPublisher(adapter.isMultiValue() ? guarded : guarded.singleOrEmpty());
    }

    /** Hides the type: operators would evaluate a single value early, and throw its {@code Error} instead of signalling it. */
    private Publisher<Object> publisher(Body body) {
        try {
            return Flux.from(adapter.toPublisher(body.run())).hide();
        } catch (Throwable failure) {
            return Flux.error(failure).hide();
        }
    }

    /** The method, or its replacement. */
    @FunctionalInterface
    private interface Body {

        @Nullable Object run() throws Throwable;
    }

    /**
     * One subscription and its grant. It may be cancelled at any time, even while the acquire is pending: this ends the acquire, and
     * releases a grant that arrives later, so that each grant is released exactly once.
     */
    private final class Subscription {

        private static final Object ENDED = new Object();

        private final AcquireRequest request;

        /** Null before the grant, then the grant, then {@link #ENDED}. */
        private final AtomicReference<@Nullable Object> state = new AtomicReference<>();

        Subscription(AcquireRequest request) {
            this.request = request;
        }

        /** Acquires without blocking a thread, and calls the method. Empty if the subscription has ended meanwhile. */
        Mono<Publisher<Object>> work(ProxyMethodInvocation call) {
            return Mono.<PermitGrant>create(this::acquire)
                    .publishOn(Schedulers.boundedElastic())
                    .map(grant -> publisher(() -> Permits.callHolding(grant, proceeding(call.invocableClone()))))
                    .onErrorResume(
                            PermitsUnavailableException.class,
                            refused -> Mono.just(publisher(() -> parts.refusal().answer(call, refused))));
        }

        private void acquire(MonoSink<PermitGrant> subscriber) {
            CompletableFuture<PermitGrant> acquire = parts.operations().get().acquireAsync(request);
            CompletableFuture<?> unusedToo = acquire.whenComplete((grant, failure) -> {
                if (failure != null) {
                    if (state.get() != ENDED) {
                        subscriber.error(failure);
                    }
                } else if (state.compareAndSet(null, grant)) {
                    subscriber.success(grant);
                } else { // not on the thread that completes acquires
                    releases.schedule(() -> grant.close());
                    subscriber.success();
                }
            });
            subscriber.onCancel(() -> {
                state.compareAndSet(null, ENDED);
                acquire.cancel(true);
            });
        }

        /** Releases the grant of a subscription that has ended. Never fails. */
        Mono<Void> end() {
            Object held = state.getAndSet(ENDED);
            return held instanceof PermitGrant grant
                    ? Mono.<Void>fromRunnable(grant::close).subscribeOn(releases)
                    : Mono.empty();
        }
    }
}
