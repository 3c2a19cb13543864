package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.Permits;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.annotation.OnUnavailable;
import io.dbsemaphore.annotation.WithPermits;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import org.springframework.aop.Advisor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ReactiveTypeDescriptor;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

class ReactiveMethodTests {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final GuardedContext context = GuardedContext.of(Backup.class);
    private final InMemoryPermitManager permits = context.permits;
    private final Backup backup = context.bean(Backup.class);

    @BeforeAll
    static void registerATypeOfOurOwn() {
        ReactiveAdapterRegistry.getSharedInstance()
                .registerReactiveType(
                        ReactiveTypeDescriptor.singleRequiredValue(Promise.class),
                        promise -> ((Promise) promise).mono(),
                        publisher -> new Promise(Mono.from(publisher).cast(Integer.class)));
    }

    @AfterEach
    void close() {
        Hooks.resetOnErrorDropped();
        context.close();
    }

    @Test
    void acquiresWhenSubscribedToNotWhenCalled() {
        Mono<Integer> mono = backup.mono(Mono.fromCallable(() -> permits.held("backup")));
        assertThat(permits.requests).isEmpty();
        assertThat(backup.calls()).hasValue(0);

        assertThat(mono.block(PATIENCE)).isEqualTo(1);
        assertThat(permits.held("backup")).isZero();
    }

    @Test
    void acquiresForEachSubscription() {
        Mono<Integer> mono = backup.mono(Mono.fromCallable(() -> permits.held("backup")));

        mono.block(PATIENCE);
        mono.block(PATIENCE);

        assertThat(permits.events).containsExactly("acquire", "release", "acquire", "release");
        assertThat(backup.calls()).hasValue(2);
    }

    @Test
    void passesTheAdviceFurtherInOnEachSubscription() {
        try (GuardedContext advised = GuardedContext.of(Backup.class, CountingConfiguration.class)) {
            Mono<Integer> mono = advised.bean(Backup.class).mono(Mono.just(1));

            mono.block(PATIENCE);
            mono.block(PATIENCE);

            assertThat(advised.bean(CallCounter.class).calls).hasValue(2);
        }
    }

    @Test
    void holdsThePermitsUntilAFluxCompletes() {
        Flux<Integer> flux = backup.flux(Flux.range(1, 3).map(i -> permits.held("backup")));

        assertThat(flux.collectList().block(PATIENCE)).containsExactly(1, 1, 1);
        assertThat(permits.events).containsExactly("acquire", "release");
    }

    @Test
    void completesOnlyAfterTheRelease() {
        AtomicInteger heldAtTheEnd = new AtomicInteger(-1);

        backup.flux(Flux.range(1, 3))
                .doOnComplete(() -> heldAtTheEnd.set(permits.held("backup")))
                .blockLast(PATIENCE);

        assertThat(heldAtTheEnd).hasValue(0);
    }

    @Test
    void releasesOnError() {
        IOException failure = new IOException("disk full");

        assertThatExceptionOfType(RuntimeException.class)
                .isThrownBy(() -> backup.mono(Mono.error(failure)).block(PATIENCE))
                .havingCause()
                .isSameAs(failure);
        assertThat(permits.events).containsExactly("acquire", "release");
    }

    @Test
    void turnsWhatTheMethodThrowsIntoAnError() throws IOException {
        AtomicReference<Throwable> error = new AtomicReference<>();

        backup.throwing().doOnError(error::set).onErrorComplete().block(PATIENCE);

        assertThat(error.get()).isInstanceOf(IOException.class).hasMessage("disk full");
        assertThat(permits.events).containsExactly("acquire", "release");
    }

    @Test
    void releasesOnCancel() throws Exception {
        CountDownLatch subscribed = new CountDownLatch(1);
        CountDownLatch cancelled = new CountDownLatch(1);
        Disposable subscription = backup.flux(Flux.<Integer>never()
                        .doOnSubscribe(it -> subscribed.countDown())
                        .doOnCancel(cancelled::countDown))
                .subscribe();
        assertThat(subscribed.await(10, TimeUnit.SECONDS)).as("subscribed").isTrue();
        assertThat(permits.held("backup")).isEqualTo(1);

        subscription.dispose();

        assertThat(cancelled.await(10, TimeUnit.SECONDS)).as("cancelled").isTrue();
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(permits.held("backup")).isZero());
        assertThat(permits.releases).hasValue(1);
    }

    @Test
    void releasesWhenNoMoreElementsAreWanted() {
        assertThat(backup.flux(Flux.range(1, 100)).next().block(PATIENCE)).isEqualTo(1);

        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(permits.held("backup")).isZero());
        assertThat(permits.releases).hasValue(1);
    }

    @Test
    void givesAGrantBackThatComesAfterTheCancellation() throws Exception {
        CountDownLatch answer = new CountDownLatch(1);
        permits.answer = answer;
        Disposable subscription = backup.mono(Mono.just(1)).subscribe();
        assertThat(permits.granted.await(10, TimeUnit.SECONDS)).as("granted").isTrue();

        subscription.dispose();
        answer.countDown();

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(permits.events).containsExactly("acquire", "release"));
        assertThat(permits.held("backup")).isZero();
        assertThat(backup.calls()).hasValue(0);
    }

    @Test
    void endsTheWaitWhenCancelled() throws Exception {
        AtomicReference<Throwable> dropped = new AtomicReference<>();
        Hooks.onErrorDropped(dropped::set);
        permits.capacity("backup", 0);
        Disposable subscription = backup.patient(Mono.just(1)).subscribe();
        assertThat(permits.waiting.await(10, TimeUnit.SECONDS)).as("waiting").isTrue();
        Thread waiter = permits.acquiringThreads.get(0);

        subscription.dispose();

        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(waiter.getStackTrace())
                        .noneMatch(frame -> frame.getClassName().equals(InMemoryPermitManager.class.getName())));
        permits.capacity("backup", 1);
        assertThat(backup.mono(Mono.just(2)).block(PATIENCE)).isEqualTo(2);
        assertThat(permits.held("backup")).isZero();
        assertThat(dropped).hasNullValue();
    }

    @Test
    void neverTouchesTheDatabaseOnTheThreadOfTheSubscriber() {
        Scheduler eventLoop = Schedulers.newSingle("event-loop");
        AtomicReference<Thread> loop = new AtomicReference<>();
        try {
            Mono.fromRunnable(() -> loop.set(Thread.currentThread()))
                    .subscribeOn(eventLoop)
                    .block(PATIENCE);

            backup.mono(Mono.just(1).publishOn(eventLoop))
                    .subscribeOn(eventLoop)
                    .block(PATIENCE);
        } finally {
            eventLoop.dispose();
        }

        assertThat(permits.acquiringThreads).hasSize(1).doesNotContain(loop.get());
        assertThat(permits.releasingThreads).hasSize(1).doesNotContain(loop.get());
    }

    @Test
    void letsTheHolderEndHoweverManyWait() throws Exception {
        Sinks.One<Integer> work = Sinks.one();
        int waiters = 20 * Runtime.getRuntime().availableProcessors();
        CountDownLatch subscribed = new CountDownLatch(1);
        Mono<Integer> first = backup.patient(work.asMono()
                        .publishOn(Schedulers.boundedElastic())
                        .doOnSubscribe(it -> subscribed.countDown()))
                .cache();
        first.subscribe();
        assertThat(subscribed.await(10, TimeUnit.SECONDS)).as("holding").isTrue();
        Mono<Long> others = Flux.range(0, waiters)
                .flatMap(i -> backup.patient(Mono.just(i)), waiters)
                .count()
                .cache();
        others.subscribe();
        assertThat(permits.waiting.await(10, TimeUnit.SECONDS)).as("waiting").isTrue();

        work.tryEmitValue(1).orThrow();

        assertThat(others.block(PATIENCE)).isEqualTo(waiters);
        assertThat(permits.peak("backup")).isEqualTo(1);
    }

    @Test
    void showsTheGrantToTheMethod() {
        assertThat(backup.grantOwner().block(PATIENCE)).isEqualTo("nightly");
    }

    @Test
    void failsWhenThePermitsAreUnavailable() {
        permits.capacity("backup", 0);

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> backup.mono(Mono.just(1)).block(PATIENCE));
        assertThat(backup.calls()).hasValue(0);
    }

    @Test
    void skipsWithAnEmptyPublisher() {
        permits.capacity("backup", 0);

        assertThat(backup.skippingMono(Mono.just(1)).blockOptional(PATIENCE)).isEmpty();
        assertThat(backup.skippingFlux(Flux.range(1, 3)).collectList().block(PATIENCE))
                .isEmpty();
        assertThat(backup.calls()).hasValue(0);
    }

    @Test
    void doesNotSkipWhenThePermitsOfAnotherAreRefusedWithinTheWork() {
        PermitsUnavailableException nested = new PermitsUnavailableException(List.of());

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> backup.skippingMono(Mono.error(nested)).block(PATIENCE))
                .isSameAs(nested);
        assertThat(permits.held("backup")).isZero();
    }

    @Test
    void fallsBack() {
        permits.capacity("backup", 0);

        assertThat(backup.fallingBack("a").block(PATIENCE)).isEqualTo("fallback a");
    }

    @Test
    void evaluatesTheNameWhenCalled() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> backup.named(null))
                .withMessageContaining("is null");

        assertThat(backup.named("a").block(PATIENCE)).isEqualTo("a");
        assertThat(permits.lastRequest().permits()).containsOnlyKeys("backup:a");
    }

    @Test
    void guardsAPlainPublisher() {
        Publisher<Integer> publisher = backup.publisher(Flux.range(1, 3).map(i -> permits.held("backup")));

        assertThat(Flux.from(publisher).collectList().block(PATIENCE)).containsExactly(1, 1, 1);
        assertThat(permits.events).containsExactly("acquire", "release");
    }

    @Test
    void guardsAFlowPublisher() {
        Flow.Publisher<Integer> publisher = backup.flow(
                JdkFlowAdapter.publisherToFlowPublisher(Flux.range(1, 3).map(i -> permits.held("backup"))));

        assertThat(JdkFlowAdapter.flowPublisherToFlux(publisher).collectList().block(PATIENCE))
                .containsExactly(1, 1, 1);
        assertThat(permits.events).containsExactly("acquire", "release");
    }

    @Test
    void guardsAnyTypeThatSpringKnows() {
        Promise promise = backup.promise(new Promise(Mono.fromCallable(() -> permits.held("backup"))));

        assertThat(promise.mono().block(PATIENCE)).isEqualTo(1);
        assertThat(permits.events).containsExactly("acquire", "release");
    }

    @Test
    void refusesToSkipATypeThatCannotBeEmpty() {
        assertThatExceptionOfType(BeanCreationException.class)
                .isThrownBy(() -> GuardedContext.of(SkippingPromise.class).close())
                .havingCause()
                .isInstanceOf(IllegalStateException.class)
                .withMessageContaining(
                        "SkippingPromise.run(): onUnavailable = SKIP is not supported for the return type")
                .withMessageContaining("ReactiveMethodTests$Promise, which cannot be empty");
    }

    @Test
    void succeedsWhereOnlyTheReleaseFailed() {
        permits.releaseFailure = new IllegalStateException("database away");

        assertThat(backup.mono(Mono.just(1)).block(PATIENCE)).isEqualTo(1);
    }

    @Test
    void addsTheFailureOfTheReleaseToTheOneOfTheWork() {
        permits.releaseFailure = new IllegalStateException("database away");
        IllegalStateException failure = new IllegalStateException("disk full");

        assertThatIllegalStateException()
                .isThrownBy(() -> backup.mono(Mono.error(failure)).block(PATIENCE))
                .isSameAs(failure);
        assertThat(failure).hasSuppressedException(permits.releaseFailure);
    }

    static class Backup {

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

        @WithPermits("backup:#{#name}")
        Mono<String> named(@Nullable String name) {
            return Mono.just(String.valueOf(name));
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
    }

    record Promise(Mono<Integer> mono) {}

    static class SkippingPromise {

        @WithPermits(names = "backup", onUnavailable = OnUnavailable.SKIP)
        Promise run() {
            return new Promise(Mono.just(1));
        }
    }

    static class CallCounter implements MethodInterceptor {

        final AtomicInteger calls = new AtomicInteger();

        @Override
        public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
            calls.incrementAndGet();
            return invocation.proceed();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class CountingConfiguration {

        @Bean
        static CallCounter callCounter() {
            return new CallCounter();
        }

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static Advisor countingAdvisor(CallCounter counter) {
            NameMatchMethodPointcut mono = new NameMatchMethodPointcut();
            mono.setMappedName("mono");
            return new DefaultPointcutAdvisor(mono, counter);
        }
    }
}
