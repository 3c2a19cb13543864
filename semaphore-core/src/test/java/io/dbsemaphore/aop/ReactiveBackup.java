package io.dbsemaphore.aop;

import io.dbsemaphore.Permits;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.annotation.OnUnavailable;
import io.dbsemaphore.annotation.WithPermits;
import java.io.IOException;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A bean with reactive methods. */
class ReactiveBackup {

    private final AtomicInteger calls = new AtomicInteger();

    AtomicInteger calls() {
        return calls;
    }

    @WithPermits("backup")
    Mono<Integer> mono(Mono<Integer> work) {
        calls.incrementAndGet();
        return work;
    }

    @WithPermits("backup")
    Flux<Integer> flux(Flux<Integer> work) {
        return work;
    }

    @WithPermits(names = "backup", waitTime = "1m")
    Mono<Integer> patient(Mono<Integer> work) {
        return work;
    }

    @WithPermits("backup")
    Mono<Integer> throwing() throws IOException {
        throw new IOException("disk full");
    }

    @WithPermits("backup")
    Mono<Integer> incomplete() {
        throw new NoClassDefFoundError("org/example/Missing");
    }

    @WithPermits(names = "backup", owner = "nightly")
    Mono<String> grantOwner() {
        return Mono.just(Permits.current().owner());
    }

    @WithPermits(names = "backup", onUnavailable = OnUnavailable.SKIP)
    Mono<Integer> skippingMono(Mono<Integer> work) {
        calls.incrementAndGet();
        return work;
    }

    @WithPermits(names = "backup", onUnavailable = OnUnavailable.SKIP)
    Flux<Integer> skippingFlux(Flux<Integer> work) {
        calls.incrementAndGet();
        return work;
    }

    @WithPermits(names = "backup", fallbackMethod = "fallback")
    Mono<String> fallingBack(String argument) {
        return Mono.just("granted");
    }

    @SuppressWarnings({"UnusedMethod", "UnusedVariable"}) // called by its name
    private Mono<String> fallback(String argument, PermitsUnavailableException refused) {
        return Mono.just("fallback " + argument);
    }

    @WithPermits("backup:#{#id.get()}")
    Mono<String> named(AtomicReference<@Nullable String> id) {
        return Mono.just(String.valueOf(id.get()));
    }

    @WithPermits("backup")
    Publisher<Integer> publisher(Publisher<Integer> work) {
        return work;
    }

    @WithPermits("backup")
    Promise promise(Promise work) {
        return work;
    }

    @WithPermits("backup")
    Flow.Publisher<Integer> flow(Flow.Publisher<Integer> work) {
        return work;
    }

    /** A type of our own that is registered as a reactive one, and cannot be empty. */
    record Promise(Mono<Integer> mono) {}

    static class SkippingPromise {

        @WithPermits(names = "backup", onUnavailable = OnUnavailable.SKIP)
        Promise run() {
            return new Promise(Mono.just(1));
        }
    }
}
