package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.engine.SemaphoreEngine;
import java.util.concurrent.Executor;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.util.ClassUtils;

/**
 * In which order beans are destroyed: an executor counts as a user of the semaphores, since its jobs may be, and so is
 * destroyed before them, whichever was made first.
 */
final class DestructionOrder {

    private static final String QUARTZ = "org.quartz.Scheduler";

    private DestructionOrder() {}

    /** Has all executors and schedulers there are destroyed before the engine. */
    static void executorsBeforeEngine(ConfigurableListableBeanFactory beanFactory) {
        for (String engine : beanFactory.getBeanNamesForType(SemaphoreEngine.class, false, false)) {
            runnersOfJobs(beanFactory.getBeanClassLoader())
                    .flatMap(type -> Stream.of(beanFactory.getBeanNamesForType(type, false, false)))
                    .distinct()
                    .filter(beanFactory::containsSingleton)
                    .forEach(runner -> beanFactory.registerDependentBean(engine, runner));
        }
    }

    private static Stream<Class<?>> runnersOfJobs(@Nullable ClassLoader classLoader) {
        Stream<Class<?>> runners = Stream.of(Executor.class, TaskScheduler.class);
        return ClassUtils.isPresent(QUARTZ, classLoader)
                ? Stream.concat(runners, Stream.of(ClassUtils.resolveClassName(QUARTZ, classLoader)))
                : runners;
    }
}
