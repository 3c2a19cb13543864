package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.dbsemaphore.PermitsUnavailableException;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
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
import reactor.adapter.JdkFlowAdapter;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class ReactiveMethodTests extends ReactiveFixture {

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
        try (GuardedContext advised = GuardedContext.of(ReactiveBackup.class, CountingConfiguration.class)) {
            Mono<Integer> mono = advised.bean(ReactiveBackup.class).mono(Mono.just(1));

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

    /** Reactor's operators throw such an error instead of passing it on. */
    @Test
    void turnsAnErrorOfTheJvmIntoAnErrorOfThePublisher() throws Exception {
        CompletableFuture<Throwable> error = new CompletableFuture<>();

        Disposable unused = backup.incomplete().subscribe(value -> {}, error::complete);

        assertThat(error.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isInstanceOf(NoClassDefFoundError.class);
        assertThat(permits.events).containsExactly("acquire", "release");
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
        AtomicReference<String> id = new AtomicReference<>("a");
        Mono<String> mono = backup.named(id);
        id.set("b");

        assertThat(mono.block(PATIENCE)).isEqualTo("b");
        assertThat(permits.lastRequest().permits()).containsOnlyKeys("backup:a");
    }

    @Test
    void failsWhereAnExpressionDoes() {
        Mono<String> mono = backup.named(new AtomicReference<>());

        assertThatIllegalArgumentException()
                .isThrownBy(() -> mono.block(PATIENCE))
                .withMessageContaining("is null. Nothing was acquired");
        assertThat(permits.requests).isEmpty();
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
        ReactiveBackup.Promise promise =
                backup.promise(new ReactiveBackup.Promise(Mono.fromCallable(() -> permits.held("backup"))));

        assertThat(promise.mono().block(PATIENCE)).isEqualTo(1);
        assertThat(permits.events).containsExactly("acquire", "release");
    }

    @Test
    void refusesToSkipATypeThatCannotBeEmpty() {
        assertThatExceptionOfType(BeanCreationException.class)
                .isThrownBy(() ->
                        GuardedContext.of(ReactiveBackup.SkippingPromise.class).close())
                .havingCause()
                .isInstanceOf(IllegalStateException.class)
                .withMessageContaining(
                        "ReactiveBackup$SkippingPromise.run(): onUnavailable = SKIP is not supported for the return type")
                .withMessageContaining("ReactiveBackup$Promise, which cannot be empty");
    }

    @Test
    void succeedsWhereOnlyTheReleaseFailed() {
        permits.releaseFailure = new IllegalStateException("database away");

        assertThat(backup.mono(Mono.just(1)).block(PATIENCE)).isEqualTo(1);
    }

    @Test
    void failsAsTheWorkDoesWhereTheReleaseFailsToo() {
        permits.releaseFailure = new IllegalStateException("database away");
        IllegalStateException failure = new IllegalStateException("disk full");

        assertThatIllegalStateException()
                .isThrownBy(() -> backup.mono(Mono.error(failure)).block(PATIENCE))
                .isSameAs(failure);
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
