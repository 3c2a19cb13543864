package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.engine.SemaphoreEngine;
import java.util.concurrent.Executor;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.util.ClassUtils;

/**
 * Determines the order in which beans are destroyed: executors are registered as dependents of the engine, since their
 * jobs may use semaphores, and so are destroyed before it, independent of the order of their creation.
 */
final class DestructionOrder {

    private static final String QUARTZ = "org.quartz.Scheduler";

    private DestructionOrder() {}

    /** Destroys all existing executors and schedulers before the engine. */
    static void executorsBeforeEngine(ConfigurableListableBeanFactory beanFactory) {
        for (String engine : beanFactory.getBeanNamesForType(SemaphoreEngine.class, false, false)) {
            executorTypes(beanFactory.getBeanClassLoader())
                    .flatMap(type -> Stream.of(beanFactory.getBeanNamesForType(type, false, false)))
                    .distinct()
                    .filter(beanFactory::containsSingleton)
                    .forEach(runner -> beanFactory.registerDependentBean(engine, runner));
        }
    }

    private static Stream<Class<?>> executorTypes(@Nullable ClassLoader classLoader) {
        Stream<Class<?>> runners = Stream.of(Executor.class, TaskScheduler.class);
        return ClassUtils.isPresent(QUARTZ, classLoader)
                ? Stream.concat(runners, Stream.of(ClassUtils.resolveClassName(QUARTZ, classLoader)))
                : runners;
    }
}
