package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.Permits;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.annotation.WithPermits;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;

class SynchronousMethodTests {

    private final GuardedContext context = GuardedContext.of(Backup.class, Unguarded.class);
    private final InMemoryPermitManager permits = context.permits;
    private final Backup backup = context.bean(Backup.class);

    @AfterEach
    void close() {
        context.close();
    }

    @Test
    void acquiresAroundTheMethod() throws Exception {
        int during = backup.call(() -> permits.held("backup"));

        assertThat(during).isEqualTo(1);
        assertThat(permits.events).containsExactly("acquire", "release");
    }

    @Test
    void acquiresForEachCall() throws Exception {
        backup.call(() -> 1);
        backup.call(() -> 1);

        assertThat(permits.events).containsExactly("acquire", "release", "acquire", "release");
    }

    @Test
    void saysThatAMockDoesNotCallTheMethod() {
        try (GuardedContext mocked = GuardedContext.of(Backup.class, Mock.class)) {
            Backup uncalled = mocked.bean(Backup.class);

            assertThatIllegalStateException()
                    .isThrownBy(() -> uncalled.call(() -> 1))
                    .withMessageContainingAll(
                            "Backup.call", "without calling it", "@MockitoSpyBean", "semaphore.enabled");
        }
    }

    static class Mock {

        @Bean
        @Primary
        SemaphoreOperations doesNothing() {
            return ProxyFactory.getProxy(SemaphoreOperations.class, (MethodInterceptor) call -> null);
        }
    }

    @Test
    void showsTheGrantToTheMethod() throws Exception {
        PermitGrant grant = backup.call(Permits::current);

        assertThat(grant.permits()).containsOnlyKeys("backup");
        assertThat(Permits.find()).isEmpty();
    }

    @Test
    void passesACheckedExceptionOnUnchanged() {
        IOException thrown = new IOException("disk full");

        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> backup.call(() -> {
                    throw thrown;
                }))
                .isSameAs(thrown);
        assertThat(permits.events).containsExactly("acquire", "release");
    }

    @Test
    void doesNotCallTheMethodWithoutPermits() {
        permits.capacity("backup", 0);
        AtomicInteger calls = new AtomicInteger();

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> backup.call(calls::incrementAndGet))
                .withMessageContaining("'backup'");
        assertThat(calls).hasValue(0);
    }

    @Test
    void neverRunsMoreCallsAtOnceThanThereArePermits() throws Exception {
        permits.capacity("backup", 3);
        AtomicInteger refused = new AtomicInteger();
        CountDownLatch full = new CountDownLatch(3);
        CountDownLatch end = new CountDownLatch(1);
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            List<Future<?>> calls = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                calls.add(threads.submit(() -> backup.call(() -> {
                    full.countDown();
                    return end.await(10, TimeUnit.SECONDS);
                })));
            }
            assertThat(full.await(10, TimeUnit.SECONDS))
                    .as("three calls at work")
                    .isTrue();
            for (int i = 0; i < 5; i++) {
                try {
                    backup.call(() -> 1);
                } catch (PermitsUnavailableException expected) {
                    refused.incrementAndGet();
                }
            }
            end.countDown();
            for (Future<?> call : calls) {
                assertThat(call.get(10, TimeUnit.SECONDS)).isEqualTo(true);
            }
        } finally {
            threads.shutdownNow();
        }

        assertThat(refused).hasValue(5);
        assertThat(permits.peak("backup")).isEqualTo(3);
        assertThat(permits.heldInTotal()).isZero();
    }

    @Test
    void findsOutThatAnObjectIsReallyAFuture() {
        assertThatIllegalStateException()
                .isThrownBy(() -> backup.anything(new CompletableFuture<>()))
                .withMessageContaining("SynchronousMethodTests$Backup.anything(Object)")
                .withMessageContaining("returned a java.util.concurrent.CompletableFuture");
        assertThat(permits.heldInTotal()).isZero();
    }

    @Test
    void letsAnObjectPassThatIsAValue() {
        assertThat(backup.anything("done")).isEqualTo("done");
    }

    @Test
    void doesNotProxyWhatIsNotAnnotated() {
        assertThat(AopUtils.isAopProxy(context.bean(Unguarded.class))).isFalse();
    }

    @Test
    void asksForTheOperationsWhenTheFirstMethodIsCalled() throws Exception {
        assertThat(context.hasCreated(SemaphoreOperations.class))
                .as("at start-up")
                .isFalse();

        backup.call(() -> 1);

        assertThat(context.hasCreated(SemaphoreOperations.class))
                .as("after a call")
                .isTrue();
    }

    static class Backup {

        @WithPermits("backup")
        public <T> T call(Callable<T> work) throws Exception {
            return work.call();
        }

        @WithPermits("backup")
        Object anything(Object result) {
            return result;
        }
    }

    static class Unguarded {

        void run() {}
    }
}
