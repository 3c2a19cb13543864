package io.dbsemaphore.boot.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.example.orders.OrdersApplication;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.boot.autoconfigure.Hosts;
import io.dbsemaphore.spi.SemaphoreListener;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.beans.factory.config.AbstractFactoryBean;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.SimpleApplicationEventMulticaster;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.test.util.AopTestUtils;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Work that the application finishes while it shuts down can acquire permits, whatever runs the work. */
@Timeout(60)
class ShutdownOrderTests {

    private static final int JOBS = 4;
    private static final int EXECUTORS = Integer.MAX_VALUE / 2; // ExecutorConfigurationSupport.DEFAULT_PHASE
    private static final String ONE_PERMIT = "semaphore.semaphores.orders.capacity=1";

    /** How long a job waits for the shutdown; it is over when beans are destroyed. */
    private static final Duration LONG = Duration.ofSeconds(20);

    @Test
    void queuedJobsOfATaskExecutor() {
        assertAllDone(TaskExecutor.class, EXECUTORS + 1);
    }

    @Test
    void jobsOfATaskScheduler() {
        assertAllDone(Scheduler.class, EXECUTORS + 1);
    }

    /** It is no {@code Lifecycle}: it awaits its jobs when the bean is destroyed. */
    @Test
    void jobsOfAnExecutorWithAThreadForEach() {
        assertAllDone(ThreadForEach.class, Integer.MIN_VALUE);
    }

    @Test
    void queuedJobsOfAPlainExecutor() {
        assertAllDone(Plain.class, Integer.MIN_VALUE);
    }

    @Test
    void asynchronousMethods() {
        try (ConfigurableApplicationContext host = Hosts.orders(
                Signal.class,
                AsyncWork.class,
                ONE_PERMIT,
                "phase=" + (EXECUTORS + 1),
                "spring.task.execution.pool.core-size=1",
                "spring.task.execution.shutdown.await-termination=true",
                "spring.task.execution.shutdown.await-termination-period=20s")) {
            Job job = new Job(host);
            for (int i = 0; i < JOBS; i++) {
                host.getBean(AsyncWork.class).run(job);
            }

            host.close();

            assertThat(job.outcomes).hasSize(JOBS).containsOnly("done");
        }
    }

    /** The event that the context is closed is still in the queue of the multicaster's executor when the phases end. */
    @Test
    void jobsThatAreAwaitedWithAnAsynchronousMulticaster() {
        try (ConfigurableApplicationContext host =
                Hosts.orders(Signal.class, LateEvents.class, ONE_PERMIT, "phase=" + Integer.MIN_VALUE)) {
            Job job = new Job(host);
            host.getBean(AwaitingExecutor.class).execute(job);

            host.getBean(LateEvents.class).closing = true;
            host.close();

            assertThat(job.outcomes).containsExactly("done");
        }
    }

    /** Those of JMS, Kafka and RabbitMQ stop first, others in any phase. */
    @ParameterizedTest(name = "at phase {0}")
    @ValueSource(ints = {Integer.MAX_VALUE, Integer.MAX_VALUE - 100, EXECUTORS, 0, Integer.MIN_VALUE})
    void listenerContainersOfAnyPhase(int phase) {
        try (ConfigurableApplicationContext host = Hosts.orders(Signal.class, ONE_PERMIT, "phase=" + phase)) {
            Job job = new Job(host);
            host.getBean(Signal.class).whenStopped = job;

            host.close();

            assertThat(job.outcomes).containsExactly("done");
        }
    }

    @Test
    void requestsThatAWebServerLetsFinish() throws Exception {
        try (ConfigurableApplicationContext host = Hosts.application(
                        OrdersApplication.class,
                        Signal.class,
                        Requests.class,
                        "spring.liquibase.change-log=classpath:com/example/orders/changelog.xml",
                        "server.shutdown=graceful",
                        "server.port=0",
                        "phase=" + (Integer.MAX_VALUE - 1023), // one above that of the graceful shutdown
                        ONE_PERMIT)
                .web(WebApplicationType.SERVLET)
                .run()) {
            URI uri =
                    URI.create("http://localhost:" + host.getEnvironment().getProperty("local.server.port") + "/work");
            CompletableFuture<String> answer = HttpClient.newHttpClient()
                    .sendAsync(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString())
                    .thenApply(HttpResponse::body);
            assertThat(host.getBean(Requests.class).begun.await(60, TimeUnit.SECONDS))
                    .as("begun")
                    .isTrue();

            host.close();

            assertThat(answer.get(10, TimeUnit.SECONDS)).isEqualTo("done");
        }
    }

    /** Neither of them is an executor, and both are created before the engine. */
    @ParameterizedTest
    @ValueSource(classes = {GuardedBean.class, GuardedProduct.class})
    void jobsOfABeanThatCallsAGuardedOne(Class<?> configuration) {
        try (ConfigurableApplicationContext host = Hosts.orders(configuration, OwnThreads.class, ONE_PERMIT)) {
            OwnThreads runner = host.getBean(OwnThreads.class);
            runner.start();

            host.close();

            assertThat(runner.outcomes).containsExactly("done");
        }
    }

    /** It would wait for itself: the context is closed on the thread of the method. */
    @Test
    void isNotDelayedByTheMethodThatExits() {
        try (ConfigurableApplicationContext host =
                Hosts.orders(Exiting.class, ONE_PERMIT, "semaphore.shutdown-timeout=50s")) {
            long begun = System.nanoTime();

            assertThat(host.getBean(Exiting.class).exit(host)).isZero();

            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(25));
        }
    }

    @Test
    void keepsAGuardedListenerUntilTheEngineHasEnded() {
        try (ConfigurableApplicationContext host = Hosts.orders(GuardedListener.class, ONE_PERMIT)) {
            GuardedListener listener = host.getBean(GuardedListener.class);
            listener.use(host.getBean(SemaphoreTemplate.class));

            host.close();

            assertThat(AopTestUtils.<GuardedListener>getTargetObject(listener).atItsEnd)
                    .isInstanceOf(SemaphoreClosedException.class);
        }
    }

    @Test
    void keepsThePoolThatUsesAnExecutorUntilTheEngineHasEnded() {
        try (ConfigurableApplicationContext host = Hosts.orders(PoolOnExecutor.class, ONE_PERMIT)) {
            assertThat(host.getBean(SemaphoreTemplate.class)
                            .acquire(AcquireRequest.of("orders"))
                            .isHeld())
                    .isTrue();

            host.close();
        }

        assertThat(new JdbcTemplate(new DriverManagerDataSource(PoolOnExecutor.URL))
                        .queryForList("select state from permit", String.class))
                .containsExactly("RELEASED");
    }

    private static void assertAllDone(Class<?> configuration, int phase) {
        try (ConfigurableApplicationContext host =
                Hosts.orders(Signal.class, configuration, ONE_PERMIT, "phase=" + phase)) {
            Object runner = host.getBean("runner");
            Job job = new Job(host);
            for (int i = 0; i < JOBS; i++) {
                if (runner instanceof TaskScheduler scheduler) {
                    Future<?> unused = scheduler.schedule(job, Instant.now());
                } else {
                    ((Executor) runner).execute(job);
                }
            }

            host.close();

            assertThat(job.outcomes).hasSize(JOBS).containsOnly("done");
        }
    }

    /** Runs as soon as the shutdown has come to the phase of the {@link Signal}. */
    private static final class Job implements Runnable {

        private final SemaphoreTemplate semaphores;
        private final CountDownLatch reached;
        private final List<String> outcomes = new CopyOnWriteArrayList<>();

        Job(ConfigurableApplicationContext host) {
            semaphores = host.getBean(SemaphoreTemplate.class);
            reached = host.getBean(Signal.class).reached;
        }

        @Override
        public void run() {
            try {
                boolean unused = reached.await(LONG.toSeconds(), TimeUnit.SECONDS);
                outcomes.add(semaphores.execute(
                        AcquireRequest.of("orders").withWaitTime(Duration.ofSeconds(10)), grant -> "done"));
            } catch (InterruptedException | RuntimeException failure) {
                outcomes.add(failure.toString());
            }
        }
    }

    /** Says when the shutdown has come to a phase; or is a listener container that finishes its work in that phase. */
    static final class Signal implements SmartLifecycle {

        private final int phase;
        private final CountDownLatch reached = new CountDownLatch(1);
        private Runnable whenStopped = () -> {};
        private volatile boolean running;

        Signal(@Value("${phase}") int phase) {
            this.phase = phase;
        }

        @Override
        public void start() {
            running = true;
        }

        @Override
        public void stop() {
            reached.countDown();
            whenStopped.run();
            running = false;
        }

        @Override
        public boolean isRunning() {
            return running;
        }

        @Override
        public int getPhase() {
            return phase;
        }
    }

    static class Exiting {

        @WithPermits(names = "orders")
        int exit(ConfigurableApplicationContext host) {
            return SpringApplication.exit(host);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TaskExecutor {

        @Bean
        ThreadPoolTaskExecutor runner() {
            ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
            executor.setCorePoolSize(1);
            executor.setWaitForTasksToCompleteOnShutdown(true);
            executor.setAwaitTerminationSeconds(20);
            return executor;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Scheduler {

        @Bean
        ThreadPoolTaskScheduler runner() {
            ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
            scheduler.setPoolSize(JOBS);
            scheduler.setWaitForTasksToCompleteOnShutdown(true);
            scheduler.setAwaitTerminationSeconds(20);
            return scheduler;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ThreadForEach {

        @Bean
        SimpleAsyncTaskExecutor runner() {
            SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor("thread-for-each-");
            executor.setTaskTerminationTimeout(Duration.ofSeconds(20).toMillis());
            return executor;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class LateEvents {

        private volatile boolean closing;

        @Bean
        SimpleApplicationEventMulticaster applicationEventMulticaster() {
            SimpleApplicationEventMulticaster multicaster = new SimpleApplicationEventMulticaster();
            multicaster.setTaskExecutor(task -> {
                if (!closing) {
                    task.run();
                }
            });
            return multicaster;
        }

        @Bean
        AwaitingExecutor runner() {
            return new AwaitingExecutor();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Plain {

        @Bean
        AwaitingExecutor runner() {
            return new AwaitingExecutor();
        }
    }

    @EnableAsync
    static class AsyncWork {

        @Async
        public void run(Job job) {
            job.run();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class PoolOnExecutor {

        private static final String URL = "jdbc:h2:mem:pool-on-executor;DB_CLOSE_DELAY=-1";

        @Bean(destroyMethod = "shutdown")
        ScheduledExecutorService housekeeping() {
            return Executors.newSingleThreadScheduledExecutor();
        }

        @Bean
        HikariDataSource dataSource(ScheduledExecutorService housekeeping) {
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl(URL);
            config.setScheduledExecutor(housekeeping);
            return new HikariDataSource(config);
        }
    }

    interface Work {

        String run();
    }

    static class GuardedWork implements Work {

        @Override
        @WithPermits("orders")
        public String run() {
            return "done";
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class GuardedBean {

        @Bean
        Work work() {
            return new GuardedWork();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class GuardedProduct {

        @Bean
        FactoryBean<GuardedWork> work() {
            return new AbstractFactoryBean<>() {

                @Override
                public Class<?> getObjectType() {
                    return GuardedWork.class;
                }

                @Override
                protected GuardedWork createInstance() {
                    return new GuardedWork();
                }
            };
        }
    }

    /** Has threads of its own, and waits for them when it is destroyed. */
    static final class OwnThreads implements AutoCloseable {

        private final Work work;
        private final AwaitingExecutor threads = new AwaitingExecutor();
        private final CountDownLatch closing = new CountDownLatch(1);
        private final List<String> outcomes = new CopyOnWriteArrayList<>();

        OwnThreads(Work work) {
            this.work = work;
        }

        void start() {
            threads.execute(() -> {
                try {
                    boolean unused = closing.await(LONG.toSeconds(), TimeUnit.SECONDS);
                    outcomes.add(work.run());
                } catch (InterruptedException | RuntimeException failure) {
                    outcomes.add(failure.toString());
                }
            });
        }

        @Override
        public void close() {
            closing.countDown();
            threads.close();
        }
    }

    static class GuardedListener implements SemaphoreListener, AutoCloseable {

        private @Nullable SemaphoreTemplate semaphores;
        private @Nullable Throwable atItsEnd;

        public void use(SemaphoreTemplate template) {
            semaphores = template;
        }

        @WithPermits("orders")
        public void run() {}

        @Override
        public void close() {
            atItsEnd = catchThrowable(() -> Objects.requireNonNull(semaphores).acquire(AcquireRequest.of("orders")));
        }
    }

    @RestController
    static class Requests {

        private final Signal signal;
        private final SemaphoreTemplate semaphores;
        private final CountDownLatch begun = new CountDownLatch(1);

        Requests(Signal signal, SemaphoreTemplate semaphores) {
            this.signal = signal;
            this.semaphores = semaphores;
        }

        @GetMapping("/work")
        String work() throws InterruptedException {
            begun.countDown();
            boolean unused = signal.reached.await(LONG.toSeconds(), TimeUnit.SECONDS);
            return semaphores.execute(AcquireRequest.of("orders"), grant -> "done");
        }
    }
}
