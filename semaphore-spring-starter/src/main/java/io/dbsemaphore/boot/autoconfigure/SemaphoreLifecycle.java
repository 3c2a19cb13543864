package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.spi.CapacityProvider;
import io.dbsemaphore.spi.OwnerLiveness;
import io.dbsemaphore.spi.SemaphoreListener;
import io.dbsemaphore.spi.ShareWeights;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.util.ClassUtils;

/**
 * Starts the semaphores before application work, and stops them after that work when the application context is paused or stopped, in a
 * phase below those of web servers, listener containers, executors and schedulers.
 *
 * <p>When the context is closed, application work continues after all phases: Quartz, and executors that are not {@code Lifecycle} beans,
 * wait for their tasks when they are destroyed. The semaphores then work until the engine is destroyed: after all executors, guarded beans
 * and the beans that depend on them, and before the pool.
 *
 * <p>A context that uses the engine of its parent neither starts nor stops it, and cannot configure it.
 */
final class SemaphoreLifecycle implements SmartLifecycle, ApplicationListener<ContextClosedEvent> {

    private static final Logger log = LoggerFactory.getLogger(SemaphoreLifecycle.class);

    /**
     * Above 0, the phase of the bean that suspends HikariCP for a checkpoint; below
     * {@code ExecutorConfigurationSupport.DEFAULT_PHASE}, which is {@code Integer.MAX_VALUE / 2}.
     */
    static final int PHASE = 1024;

    /** The properties that configure the engine. Environment variables are left out: the parent has the same. */
    private static final Pattern OF_THE_ENGINE = Pattern.compile(
            "(?i)semaphore\\.(patterns|datasource|adapters)\\b.*|semaphore\\.semaphores\\..+\\.(wait-?time|max-?hold|reuse|fair|weights\\b.*)");

    /** The types of beans that run jobs, which may use semaphores. By name: Quartz need not be on the class path. */
    private static final List<String> EXECUTORS =
            List.of(Executor.class.getName(), TaskScheduler.class.getName(), "org.quartz.Scheduler");

    private final SemaphoreEngine engine;
    private final DeclaredSemaphores declared;
    private final ConfigurableApplicationContext context;
    private final boolean isOwner;
    private volatile boolean running;
    private volatile boolean closing;

    SemaphoreLifecycle(SemaphoreEngine engine, DeclaredSemaphores declared, ConfigurableApplicationContext context) {
        this.engine = engine;
        this.declared = declared;
        this.context = context;
        this.isOwner = context.getBeanFactory().getBeanNamesForType(SemaphoreEngine.class, true, false).length > 0;
        ApplicationContext parent = context.getParent();
        if (!isOwner && parent != null) {
            warnOfIgnored(context.getEnvironment(), parent.getEnvironment());
        }
    }

    private static void warnOfIgnored(ConfigurableEnvironment own, Environment ofParent) {
        List<String> ignored = DeclaredSemaphores.propertyNames(own)
                .filter(name -> OF_THE_ENGINE.matcher(name).matches()
                        && !Objects.equals(own.getProperty(name), ofParent.getProperty(name)))
                .distinct()
                .sorted()
                .toList();
        if (!ignored.isEmpty()) {
            log.warn(
                    "{} have no effect here: this application context uses the semaphores of its parent. Set them in the"
                            + " parent",
                    ignored);
        }
    }

    @Override
    public void start() {
        if (isOwner) {
            engine.start();
        }
        declared.createBy(engine.admin());
        running = true;
    }

    @Override
    public void stop() {
        if (isOwner && !closing) {
            engine.shutDown();
        }
        declared.stop();
        running = false;
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    @Override
    public void onApplicationEvent(ContextClosedEvent event) {
        if (event.getApplicationContext() == context) { // not a child context
            closing = true;
            usersBeforeEngine(context.getBeanFactory());
        }
    }

    /** Synchronous even if the multicaster has an executor: the phases of the shutdown come next. */
    @Override
    public boolean supportsAsyncExecution() {
        return false;
    }

    /**
     * Makes the context destroy all existing executors, schedulers and guarded beans before the engine, by registering them as its
     * dependents. Beans that the engine needs, such as an executor of its pool, are left out.
     */
    private static void usersBeforeEngine(ConfigurableListableBeanFactory beanFactory) {
        ClassLoader classLoader = beanFactory.getBeanClassLoader();
        Set<String> ofPools = new HashSet<>();
        addWithDependencies(DataSource.class, beanFactory, ofPools);
        for (String engine : beanFactory.getBeanNamesForType(SemaphoreEngine.class, false, false)) {
            EXECUTORS.stream()
                    .filter(type -> ClassUtils.isPresent(type, classLoader))
                    .map(type -> ClassUtils.resolveClassName(type, classLoader))
                    .flatMap(type -> Stream.of(beanFactory.getBeanNamesForType(type, false, false)))
                    .distinct()
                    .filter(runner -> !ofPools.contains(runner) && beanFactory.containsSingleton(runner))
                    .forEach(runner -> beanFactory.registerDependentBean(engine, runner));
            Set<String> needed = new HashSet<>(ofPools);
            addWithDependencies(engine, beanFactory, needed);
            addWithDependencies(SemaphoreListener.class, beanFactory, needed);
            addWithDependencies(OwnerLiveness.class, beanFactory, needed);
            addWithDependencies(CapacityProvider.class, beanFactory, needed);
            addWithDependencies(ShareWeights.class, beanFactory, needed);
            Stream.of(beanFactory.getSingletonNames())
                    .filter(name -> !needed.contains(name) && AdviceConfiguration.isGuarded(name, beanFactory))
                    .forEach(guarded -> beanFactory.registerDependentBean(engine, guarded));
        }
    }

    private static void addWithDependencies(
            Class<?> type, ConfigurableListableBeanFactory beanFactory, Set<String> all) {
        for (String name : beanFactory.getBeanNamesForType(type, false, false)) {
            addWithDependencies(name, beanFactory, all);
        }
    }

    private static void addWithDependencies(String name, ConfigurableListableBeanFactory beanFactory, Set<String> all) {
        if (all.add(name)) {
            for (String dependency : beanFactory.getDependenciesForBean(name)) {
                addWithDependencies(dependency, beanFactory, all);
            }
        }
    }
}
