package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.spi.PermitManager.AcquireResult;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.StaticListableBeanFactory;

/** Futures of methods with a wait time. */
class FutureGuardTests {

    private final GuardedContext context = GuardedContext.of(Backup.class);
    private final InMemoryPermitManager permits = context.permits;
    private final Backup backup = context.bean(Backup.class);
    private final CompletableFuture<String> work = new CompletableFuture<>();
    private final AtomicInteger calls = new AtomicInteger();

    @AfterEach
    void close() {
        context.close();
    }

    @Test
    void cancelsTheWorkIfTheGrantArrivesDuringTheCancellation() {
        PermitGrant grant = grant();
        CompletableFuture<PermitGrant> acquire = new CompletableFuture<>() {

            /** Another thread grants at this moment. */
            @Override
            public boolean cancel(boolean mayInterruptIfRunning) {
                complete(grant);
                return super.cancel(mayInterruptIfRunning);
            }
        };
        CompletableFuture<?> future =
                guard((call, refused) -> null, Runnable::run).callWhenGranted(acquire, call());

        assertThat(future.cancel(true)).isTrue();

        assertThat(future).isCancelled();
        assertThat(work).isCancelled();
        assertThat(permits.held("backup")).isZero();
        assertThat(permits.releases).hasValue(1);
    }

    @Test
    void isCancelledWhereItsFallbackCannotBe() {
        CompletableFuture<?> future = refused(work.minimalCompletionStage());

        assertThat(future.cancel(true)).isTrue();

        assertThat(future).isCancelled();
        assertThat(work).isNotDone();
    }

    @Test
    void ignoresACancellationAfterAFallbackThatCannotBeCancelled() {
        CompletableFuture<?> future = refused(CompletableFuture.completedStage("later"));

        assertThat(future.cancel(true)).isFalse();

        assertThat(future.join()).isEqualTo("later");
    }

    @Test
    void doesNotCallTheMethodOnTheCallingThreadWhereThePermitsAreHeldAtOnce() {
        List<Runnable> tasks = new ArrayList<>();
        CompletableFuture<?> future = guard((call, refused) -> null, tasks::add)
                .callWhenGranted(CompletableFuture.completedFuture(grant()), call());
        assertThat(calls).hasValue(0);

        tasks.remove(0).run();

        assertThat(calls).hasValue(1);
        work.complete("done");
        tasks.remove(0).run();
        assertThat(future.join()).isEqualTo("done");
        assertThat(permits.held("backup")).isZero();
    }

    @Test
    void failsWhereAnExpressionDoes() {
        CompletableFuture<String> future = backup.named(null);

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> future.get(10, TimeUnit.SECONDS))
                .havingCause()
                .isInstanceOf(IllegalArgumentException.class)
                .withMessageContaining("is null. Nothing was acquired");
        assertThat(permits.requests).isEmpty();
    }

    private CompletableFuture<?> refused(CompletionStage<String> fallback) {
        return guard((call, refused) -> fallback, Runnable::run)
                .callWhenGranted(CompletableFuture.failedFuture(new PermitsUnavailableException(List.of())), call());
    }

    private FutureGuard guard(Refusal refusal, Executor threads) {
        AnnotatedMethod annotated = AnnotatedMethod.allOf(Backup.class).get(0);
        return new FutureGuard(new MethodGuard.Parts(
                annotated,
                () -> new SemaphoreTemplate(permits),
                new RequestTemplate(annotated, new StaticListableBeanFactory()),
                refusal,
                threads));
    }

    /** A call of a method that returns the work. */
    private MethodInvocation call() {
        return (MethodInvocation) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {MethodInvocation.class}, (proxy, method, arguments) -> {
                    calls.incrementAndGet();
                    return work;
                });
    }

    private PermitGrant grant() {
        return ((AcquireResult.Granted) permits.acquire(AcquireRequest.of("backup"))).grant();
    }

    static class Backup {

        @WithPermits(names = "backup:#{#name}", waitTime = "1m")
        CompletableFuture<String> named(@Nullable String name) {
            return CompletableFuture.completedFuture(String.valueOf(name));
        }
    }
}
