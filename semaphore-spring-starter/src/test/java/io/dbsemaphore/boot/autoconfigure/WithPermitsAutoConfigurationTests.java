package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.Permits;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.aop.WithPermitsAdvisor;
import io.dbsemaphore.engine.SemaphoreEngine;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.OverridingClassLoader;
import org.springframework.core.PriorityOrdered;

@ExtendWith(OutputCaptureExtension.class)
class WithPermitsAutoConfigurationTests {

    private final ApplicationContextRunner host = Hosts.jdbc()
            .withPropertyValues("semaphore.semaphores.backup.capacity=1")
            .withUserConfiguration(BackupConfiguration.class);

    @Test
    void guardsAnnotatedMethods() {
        host.run(context ->
                assertThat(context.getBean(Backup.class).isUnderPermit()).isTrue());
    }

    /** What follows a guarded future is code of the application, and may block: a hundred of them delay no other release. */
    @Test
    void releasesFuturesOnThreadsOfTheEngineHoweverManyDependentActionsBlock() {
        host.withPropertyValues("semaphore.semaphores.many.capacity=200")
                .withBean(Many.class)
                .run(context -> {
                    Many backup = context.getBean(Many.class);
                    CountDownLatch end = new CountDownLatch(1);
                    Set<String> threads = ConcurrentHashMap.newKeySet();
                    for (int i = 0; i < 100; i++) {
                        CompletableFuture<String> work = new CompletableFuture<>();
                        CompletableFuture<?> unused = backup.laterElsewhere(work)
                                .thenRun(() -> {
                                    threads.add(Thread.currentThread().getName().replaceFirst("-\\d+$", ""));
                                    await(end);
                                });
                        work.complete("done");
                    }
                    CompletableFuture<String> last = new CompletableFuture<>();
                    CompletableFuture<String> guarded = backup.laterElsewhere(last);

                    last.complete("last");

                    assertThat(guarded.get(20, TimeUnit.SECONDS)).isEqualTo("last");
                    assertThat(threads).containsExactly("semaphore-application");
                    end.countDown();
                });
    }

    /** Work may take longer than the shutdown waits for it. */
    @Test
    void aFutureWhoseWorkEndsAfterTheApplicationIsCompletedAndMakesNoBeanAgain() throws Exception {
        Set<Thread> ofOthers = keepAlives();
        CompletableFuture<String> work = new CompletableFuture<>();
        AtomicReference<CompletableFuture<String>> guarded = new AtomicReference<>();
        host.withPropertyValues("semaphore.semaphores.many.capacity=1", "semaphore.shutdown-timeout=100ms")
                .withBean(Many.class)
                .run(context -> guarded.set(context.getBean(Many.class).laterElsewhere(work)));

        work.complete("late");

        assertThat(guarded.get().get(20, TimeUnit.SECONDS)).isEqualTo("late");
        Awaitility.await("the end of the keep-alive")
                .until(() -> keepAlives().stream().allMatch(ofOthers::contains));
    }

    private static Set<Thread> keepAlives() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("semaphore-keep-alive"))
                .collect(Collectors.toSet());
    }

    private static void await(CountDownLatch end) {
        try {
            end.await();
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void guardsWhereAspectsAreOff() {
        host.withPropertyValues("spring.aop.auto=false")
                .run(context -> assertThat(context.getBean(Backup.class).isUnderPermit())
                        .isTrue());
    }

    @Test
    void guardsWithoutAspectJ() {
        host.withClassLoader(new FilteredClassLoader("org.aspectj"))
                .run(context -> assertThat(context.getBean(Backup.class).isUnderPermit())
                        .isTrue());
    }

    /** Nothing but the starter: no transactions and no aspects that would bring somebody who makes proxies. */
    @Test
    void guardsWithoutAnyOtherAdvice() {
        Hosts.bare()
                .withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
                .withPropertyValues("semaphore.liquibase.enabled=true", "semaphore.semaphores.backup.capacity=1")
                .withUserConfiguration(BackupConfiguration.class)
                .run(context -> assertThat(context.getBean(Backup.class).isUnderPermit())
                        .isTrue());
    }

    @Test
    void leavesABeanAloneThatIsNeverCreatedAndLacksAType() throws Exception {
        RootBeanDefinition lazy = lazyThatLacksAType();
        host.withInitializer(context -> ((GenericApplicationContext) context).registerBeanDefinition("lazy", lazy))
                .run(context -> assertThat(context).hasNotFailed());
    }

    static RootBeanDefinition lazyThatLacksAType() throws ClassNotFoundException {
        ClassLoader incomplete = new OverridingClassLoader(Lacking.class.getClassLoader()) {
            @Override
            protected boolean isEligibleForOverriding(String className) {
                return className.equals(Lacking.class.getName());
            }

            @Override
            public Class<?> loadClass(String name) throws ClassNotFoundException {
                if (name.equals(Missing.class.getName())) {
                    throw new ClassNotFoundException(name);
                }
                return super.loadClass(name);
            }
        };
        RootBeanDefinition lazy = new RootBeanDefinition(incomplete.loadClass(Lacking.class.getName()));
        lazy.setLazyInit(true);
        return lazy;
    }

    static final class Missing {}

    static class Lacking {

        @Nullable Missing missing() {
            return null;
        }
    }

    @Test
    void makesProxiesOfClasses() {
        host.withPropertyValues("spring.aop.auto=false")
                .run(context -> assertThat(context.getBean(Store.class))
                        .matches(AopUtils::isCglibProxy, "is a proxy of its class")
                        .isInstanceOf(DiskStore.class));
    }

    @Test
    void leavesItToTheApplicationWhatProxiesAreMadeOfWhereAspectsAreOff() {
        Hosts.bare()
                .withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
                .withPropertyValues(
                        "spring.aop.auto=false",
                        "semaphore.liquibase.enabled=true",
                        "semaphore.semaphores.backup.capacity=1")
                .withUserConfiguration(BackupConfiguration.class)
                .run(context -> assertThat(context.getBean(Store.class))
                        .matches(AopUtils::isJdkDynamicProxy, "is a proxy of its interface"));
    }

    @Test
    void makesProxiesOfInterfacesWhereTheApplicationWantsThem() {
        host.withPropertyValues("spring.aop.proxy-target-class=false").run(context -> {
            assertThat(context.getBean(Store.class))
                    .matches(AopUtils::isJdkDynamicProxy, "is a proxy of its interface");
            assertThat(context.getBean(Store.class).isUnderPermit()).isTrue();
        });
    }

    @Test
    void runsUnderPermitsThatNobodyCountsWhenDisabled() {
        host.withPropertyValues("semaphore.enabled=false").run(context -> {
            assertThat(context.getBean(Backup.class).isUnderPermit()).isTrue();
            assertThat(context).doesNotHaveBean(SemaphoreEngine.class);
        });
    }

    @Test
    void failsTheFutureOfAMethodThatWaitsAfterTheStop() {
        host.run(context -> {
            context.stop();

            assertThat(context.getBean(Backup.class).threadOfWork())
                    .failsWithin(Duration.ofSeconds(10))
                    .withThrowableOfType(ExecutionException.class)
                    .withCauseInstanceOf(SemaphoreClosedException.class);
        });
    }

    @Test
    void doesNotCallAMethodThatWaitsOnTheCallingThreadWhereAPermitIsReused() {
        host.withPropertyValues("semaphore.semaphores.backup.reuse=10s").run(context -> {
            Backup backup = context.getBean(Backup.class);
            backup.threadOfWork().get(10, TimeUnit.SECONDS);

            assertThat(backup.threadOfWork())
                    .succeedsWithin(Duration.ofSeconds(10))
                    .isNotSameAs(Thread.currentThread());
        });
    }

    @Test
    void ordersTheAdviceAsConfigured() {
        host.run(context ->
                assertThat(context.getBean(WithPermitsAdvisor.class).getOrder()).isEqualTo(1000));
        host.withPropertyValues("semaphore.aop.order=5")
                .run(context -> assertThat(
                                context.getBean(WithPermitsAdvisor.class).getOrder())
                        .isEqualTo(5));
    }

    @Test
    void backsOffBeforeAnAdvisorOfTheApplication() {
        host.withUserConfiguration(OwnAdvisor.class).run(context -> {
            assertThat(context).getBeanNames(WithPermitsAdvisor.class).containsExactly("ownAdvisor");
            assertThat(context.getBean(Backup.class).isUnderPermit()).isTrue();
        });
    }

    @Test
    void sharesTheProxyCreatorWithTransactions() {
        host.run(context -> assertThat(context.getBeanFactory().getBeanNamesForType(BeanPostProcessor.class))
                .filteredOn(name ->
                        name.equals(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME) || name.contains("roxyCreator"))
                .containsExactly(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME));
    }

    /** Whatever a post-processor needs is made before all post-processors are there; ours must not be drawn in. */
    @Test
    void makesNothingBeforeItsTime(CapturedOutput output) {
        host.withUserConfiguration(EarlyBeans.class)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output.getOut()
                        .lines()
                        .filter(line -> line.contains("is not eligible for getting processed by all")))
                .isNotEmpty()
                .allMatch(line -> line.contains("'needed'") || line.contains("EarlyBeans"));
    }

    /** Nothing makes a proxy of what is needed before the one who makes proxies is there. */
    @Test
    void tellsWhichBeansAreCreatedTooEarlyToBeGuarded(CapturedOutput output) {
        host.withUserConfiguration(TooEarly.class)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output.getOut().lines().filter(line -> line.contains("The @WithPermits methods of")))
                .hasSize(2)
                .anyMatch(line -> line.contains("bean 'neededByFactoryPostProcessor' acquire no permits"))
                .anyMatch(line -> line.contains("bean 'neededByPostProcessor' acquire no permits"));
    }

    /** A test replaces a bean by a singleton of its class, whose annotations cannot always be resolved there. */
    @Test
    void startsWithAMockInPlaceOfABean(CapturedOutput output) {
        host.withInitializer(context -> {
                    GenericApplicationContext generic = (GenericApplicationContext) context;
                    generic.registerBeanDefinition("mocked", new RootBeanDefinition(Replaced.class));
                    generic.getBeanFactory().registerSingleton("mocked", new Replaced());
                })
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).contains("bean 'mocked' acquire no permits");
    }

    public interface Store {

        boolean isUnderPermit();
    }

    public static class DiskStore implements Store {

        @Override
        @WithPermits("backup")
        public boolean isUnderPermit() {
            return Permits.find().isPresent();
        }
    }

    public static class Backup {

        @WithPermits("backup")
        public boolean isUnderPermit() {
            return Permits.find().isPresent();
        }

        @WithPermits(names = "backup", waitTime = "10s")
        public CompletableFuture<Thread> threadOfWork() {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }
    }

    static class Many {

        @WithPermits("many")
        public CompletableFuture<String> laterElsewhere(CompletableFuture<String> work) {
            return work;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class BackupConfiguration {

        @Bean
        Backup backup() {
            return new Backup();
        }

        @Bean
        Store store() {
            return new DiskStore();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnAdvisor {

        @Bean
        static WithPermitsAdvisor ownAdvisor(ObjectProvider<SemaphoreTemplate> operations, BeanFactory beanFactory) {
            return new WithPermitsAdvisor(operations::getObject, beanFactory);
        }
    }

    static class Replaced {

        @WithPermits("${semaphore.of.production}")
        void run() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class TooEarly {

        @Bean
        static DiskStore neededByFactoryPostProcessor() {
            return new DiskStore();
        }

        @Bean
        static BeanFactoryPostProcessor factoryPostProcessor(DiskStore neededByFactoryPostProcessor) {
            return beanFactory -> {};
        }

        @Bean
        static Backup neededByPostProcessor() {
            return new Backup();
        }

        @Bean
        static FirstPostProcessor postProcessor(Backup neededByPostProcessor) {
            return new FirstPostProcessor();
        }
    }

    static final class FirstPostProcessor implements BeanPostProcessor, PriorityOrdered {

        @Override
        public int getOrder() {
            return 0;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class EarlyBeans {

        @Bean
        static StringBuilder needed() {
            return new StringBuilder();
        }

        @Bean
        static BeanPostProcessor early(StringBuilder needed) {
            return new BeanPostProcessor() {};
        }
    }
}
