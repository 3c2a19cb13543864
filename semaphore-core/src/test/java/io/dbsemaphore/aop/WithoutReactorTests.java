package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.annotation.WithPermits;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Runs in a class loader that has what this library needs, and neither Reactor nor Reactive Streams. */
class WithoutReactorTests {

    @Test
    void guardsValuesAndFutures() throws Exception {
        assertThat(runWithoutReactor(Guarding.class)).isEqualTo("[acquire, release, acquire, release] done");
    }

    @Test
    void refusesPublishers() throws Exception {
        assertThat(runWithoutReactor(Refusing.class))
                .contains("PublisherBackup.run(): it returns java.util.concurrent.Flow$Publisher")
                .contains("with Reactor on the classpath, a Mono or Flux");
    }

    private static String runWithoutReactor(Class<?> scenario) throws Exception {
        URL[] needed = Stream.of(
                        WithoutReactorTests.class,
                        SemaphoreOperations.class,
                        Nullable.class,
                        org.slf4j.LoggerFactory.class,
                        org.apache.commons.logging.LogFactory.class,
                        org.springframework.aop.Advisor.class,
                        org.springframework.beans.factory.BeanFactory.class,
                        org.springframework.context.ApplicationContext.class,
                        org.springframework.core.Ordered.class,
                        org.springframework.dao.DataAccessException.class,
                        org.springframework.expression.Expression.class)
                .map(type -> type.getProtectionDomain().getCodeSource().getLocation())
                .distinct()
                .toArray(URL[]::new);
        try (URLClassLoader loader = new URLClassLoader(needed, ClassLoader.getPlatformClassLoader())) {
            Thread thread = Thread.currentThread();
            ClassLoader before = thread.getContextClassLoader();
            thread.setContextClassLoader(loader);
            try {
                return (String) ((Callable<?>) loader.loadClass(scenario.getName())
                                .getConstructor()
                                .newInstance())
                        .call();
            } finally {
                thread.setContextClassLoader(before);
            }
        }
    }

    public static class Guarding implements Callable<String> {

        @Override
        public String call() {
            try (GuardedContext context = GuardedContext.of(Backup.class)) {
                context.bean(Backup.class).value();
                String result = context.bean(Backup.class).future().join();
                return context.permits.events + " " + result;
            }
        }
    }

    public static class Refusing implements Callable<String> {

        @Override
        public String call() {
            try (GuardedContext context = GuardedContext.of(PublisherBackup.class)) {
                return "not refused: " + context.permits.events;
            } catch (RuntimeException refused) {
                return String.valueOf(refused.getMessage());
            }
        }
    }

    public static class Backup {

        @WithPermits("backup")
        public List<String> value() {
            return List.of();
        }

        @WithPermits("backup")
        public CompletableFuture<String> future() {
            return CompletableFuture.completedFuture("done");
        }
    }

    public static class PublisherBackup {

        @WithPermits("backup")
        public Flow.@Nullable Publisher<String> run() {
            return null;
        }
    }
}
