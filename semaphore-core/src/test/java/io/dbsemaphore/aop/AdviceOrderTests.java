package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.dbsemaphore.Permits;
import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.annotation.WithPermits;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.Advised;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskExecutor;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

class AdviceOrderTests {

    @Test
    void acquiresBeforeTheTransactionAndReleasesAfterItsCommit() {
        try (GuardedContext context = GuardedContext.of(TransactionConfiguration.class, Backup.class)) {
            context.bean(Transactions.class).events = context.permits.events;

            context.bean(Backup.class).transactional(null);

            assertThat(context.permits.events).containsExactly("acquire", "begin", "commit", "release");
        }
    }

    @Test
    void releasesAfterTheRollback() {
        try (GuardedContext context = GuardedContext.of(TransactionConfiguration.class, Backup.class)) {
            context.bean(Transactions.class).events = context.permits.events;
            IllegalStateException failure = new IllegalStateException("disk full");

            assertThatIllegalStateException()
                    .isThrownBy(() -> context.bean(Backup.class).transactional(failure))
                    .isSameAs(failure);

            assertThat(context.permits.events).containsExactly("acquire", "begin", "rollback", "release");
        }
    }

    @Test
    void acquiresOnTheThreadThatRunsAnAsyncMethod() throws Exception {
        try (GuardedContext context = GuardedContext.of(AsyncConfiguration.class, Backup.class)) {
            CompletableFuture<Integer> held = new CompletableFuture<>();

            context.bean(Backup.class).async(held);

            assertThat(held.get(10, TimeUnit.SECONDS)).isEqualTo(1);
            assertThat(context.permits.acquiringThreads).doesNotContain(Thread.currentThread());
        }
    }

    @Test
    void completesTheFutureOfAnAsyncMethodAfterTheRelease() throws Exception {
        try (GuardedContext context = GuardedContext.of(AsyncConfiguration.class, Backup.class)) {
            assertThat(context.bean(Backup.class).asyncFuture().get(10, TimeUnit.SECONDS))
                    .isEqualTo(1);
            assertThat(context.permits.events).containsExactly("acquire", "release");
            assertThat(context.permits.acquiringThreads).doesNotContain(Thread.currentThread());
        }
    }

    /** The thread would only wait for the work otherwise, which would run elsewhere. */
    @Test
    void waitsForThePermitsOfAnAsyncMethodOnTheThreadThatRunsIt() throws Exception {
        try (GuardedContext context = GuardedContext.of(AsyncConfiguration.class, Backup.class, AsyncBackup.class)) {
            context.permits.capacity("backup", 0);
            CompletableFuture<Thread> method = context.bean(Backup.class).patientAsyncFuture();
            CompletableFuture<Thread> type = context.bean(AsyncBackup.class).patientFuture();
            assertThat(context.permits.waiting.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(method).isNotDone();
            assertThat(type).isNotDone();

            context.permits.capacity("backup", 2);

            assertThat(List.of(method.get(10, TimeUnit.SECONDS), type.get(10, TimeUnit.SECONDS)))
                    .allMatch(thread -> thread.getName().startsWith("async-"), "is a thread of the executor")
                    .containsExactlyInAnyOrderElementsOf(context.permits.acquiringThreads);
        }
    }

    @Test
    void acquiresForEachRetry() {
        try (GuardedContext context = GuardedContext.of(RetryConfiguration.class, Backup.class)) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> context.bean(Backup.class).retried(new IllegalStateException("network away")));

            assertThat(context.permits.events)
                    .containsExactly("acquire", "release", "acquire", "release", "acquire", "release");
        }
    }

    @Test
    void hasAnOrderThatCanBeChosen() {
        try (GuardedContext context = GuardedContext.of(Backup.class)) {
            assertThat(context.bean(WithPermitsAdvisor.class).getOrder())
                    .isEqualTo(WithPermitsAdvisor.DEFAULT_ORDER)
                    .isEqualTo(1000)
                    .isLessThan(Ordered.LOWEST_PRECEDENCE);
            assertThat(((Advised) context.bean(Backup.class)).getAdvisors()).hasSize(1);
            assertThat(new WithPermitsAdvisor(
                                    () -> context.bean(SemaphoreOperations.class),
                                    new StaticListableBeanFactory(),
                                    7,
                                    Runnable::run)
                            .getOrder())
                    .isEqualTo(7);
        }
    }

    static class Backup {

        @WithPermits("backup")
        @Transactional
        public void transactional(@Nullable RuntimeException failure) {
            if (failure != null) {
                throw failure;
            }
        }

        @WithPermits("backup")
        @Async
        public void async(CompletableFuture<Integer> held) {
            held.complete(Permits.find().map(grant -> grant.permits().size()).orElse(0));
        }

        @WithPermits("backup")
        @Async
        public CompletableFuture<Integer> asyncFuture() {
            return CompletableFuture.completedFuture(Permits.current().permits().size());
        }

        @WithPermits(names = "backup", waitTime = "1m")
        @Async
        public CompletableFuture<Thread> patientAsyncFuture() {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }

        @WithPermits("backup")
        @Retryable(maxRetries = 2, delay = 0)
        public void retried(RuntimeException failure) {
            throw failure;
        }
    }

    @Async
    static class AsyncBackup {

        @WithPermits(names = "backup", waitTime = "1m")
        public CompletableFuture<Thread> patientFuture() {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(proxyTargetClass = true)
    static class TransactionConfiguration {

        @Bean
        static PlatformTransactionManager transactionManager() {
            return new Transactions();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync(proxyTargetClass = true)
    static class AsyncConfiguration {

        @Bean
        static TaskExecutor taskExecutor() {
            return new SimpleAsyncTaskExecutor("async-");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableResilientMethods(proxyTargetClass = true)
    static class RetryConfiguration {}

    static class Transactions extends AbstractPlatformTransactionManager {

        private static final long serialVersionUID = 1L;

        transient List<String> events = List.of();

        @Override
        protected Object doGetTransaction() {
            return new Object();
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {
            events.add("begin");
        }

        @Override
        protected void doCommit(DefaultTransactionStatus status) {
            events.add("commit");
        }

        @Override
        protected void doRollback(DefaultTransactionStatus status) {
            events.add("rollback");
        }
    }
}
