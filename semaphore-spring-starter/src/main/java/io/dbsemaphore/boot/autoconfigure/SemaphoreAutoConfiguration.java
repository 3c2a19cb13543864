package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreMaintenance;
import io.dbsemaphore.aop.WithPermitsAdvisor;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.spi.CapacityProvider;
import io.dbsemaphore.spi.OwnerLiveness;
import io.dbsemaphore.spi.PermitManager;
import io.dbsemaphore.spi.PermitManagerDecorator;
import io.dbsemaphore.spi.SemaphoreListener;
import io.dbsemaphore.spi.ShareWeights;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.StringUtils;

/**
 * Auto-configuration for semaphores in a database of the application: a {@link SemaphoreTemplate} to inject, a
 * {@link SemaphoreAdmin}, and the advice for {@link io.dbsemaphore.annotation.WithPermits}.
 *
 * <p>Entities, transactions and threads are internal to one {@link SemaphoreEngine}. No {@code EntityManagerFactory}
 * and no transaction manager of the library is a bean, so that the application's own configuration is not affected.
 */
@AutoConfiguration(after = DataSourceAutoConfiguration.class)
@Conditional({OnEnabled.class, SemaphoreAutoConfiguration.OnDataSource.class})
@EnableConfigurationProperties({SemaphoreProperties.class, OwnPool.Properties.class})
@Import({AdviceConfiguration.class, RenamedProperties.class})
public final class SemaphoreAutoConfiguration {

    /** Not lazy: it acts when all beans have been created. Defined before the engine, whose presence its condition excludes. */
    @Bean
    @Lazy(false)
    @ConditionalOnMissingBean(SemaphoreEngine.class)
    ListenerBeans semaphoreListenerBeans(
            ObjectProvider<SemaphoreListener> listeners,
            ObjectProvider<OwnerLiveness> ownerLiveness,
            ObjectProvider<CapacityProvider> capacityProviders,
            ObjectProvider<ShareWeights> shareWeights,
            ConfigurableListableBeanFactory beanFactory) {
        return new ListenerBeans(listeners, ownerLiveness, capacityProviders, shareWeights, beanFactory);
    }

    @Bean(destroyMethod = "close")
    @DependsOnDatabaseInitialization
    @ConditionalOnMissingBean
    SemaphoreEngine semaphoreEngine(
            SemaphoreProperties properties,
            SemaphoreSettings settings,
            DeclaredSemaphores declaredSemaphores,
            @SemaphoreDataSource ObjectProvider<DataSource> annotatedDataSources,
            ObjectProvider<DataSource> dataSources,
            ObjectProvider<OwnPool> ownPool,
            ListenerBeans listenerBeans,
            ObjectProvider<DataSourcePoolMetadataProvider> pools,
            ConfigurableApplicationContext context) {
        OwnPool own = ownPool.getIfAvailable();
        DataSource dataSource = own != null
                ? own.dataSource()
                : DataSourceChoice.of(
                        properties.datasource(), context.getBeanFactory(), annotatedDataSources, dataSources);
        boolean roomBesideTheApplication = own != null
                || DataSourceChoice.hasRoomBesideTheApplication(
                        dataSource, settings.get(SemaphoreSettings.MAX_CONNECTIONS), pools.stream());
        if (properties.liquibase().enabled()) {
            OwnChangelog.run(dataSource, settings.get(SemaphoreSettings.TABLE_PREFIX), context);
        }
        Duration schemaWait = TableInitializer.timeToWait(properties.jdbc().schemaWait(), context);
        SemaphoreEngine engine = SemaphoreEngine.inBackground(
                dataSource,
                settings,
                () -> listenerBeans.listeners,
                () -> listenerBeans.ownerLiveness,
                () -> listenerBeans.capacityProviders,
                () -> listenerBeans.shareWeights,
                schemaWait.isZero()
                        ? script ->
                                TableInitializer.run(script, properties.jdbc().initializeSchema())
                        : script -> {},
                schemaWait,
                declaredSemaphores::open);
        if (!roomBesideTheApplication) {
            try {
                engine.check(); // waits for the engine to start, before the application needs the only connection
            } catch (RuntimeException | Error failure) {
                engine.close(); // not yet a bean that the context would close
                throw failure;
            }
        }
        return engine;
    }

    @Bean
    @ConditionalOnProperty(OwnPool.Properties.URL)
    OwnPool semaphoreOwnPool(
            OwnPool.Properties ownPool,
            SemaphoreProperties properties,
            SemaphoreSettings settings,
            Environment environment) {
        if (properties.datasource() != null) {
            throw new SemaphoreConfigurationException(
                    "semaphore.datasource=%s names a bean, and %s a database: the semaphores are in one of them."
                            .formatted(properties.datasource(), OwnPool.Properties.URL),
                    "Remove one of the two properties.");
        }
        return OwnPool.of(ownPool, settings.get(SemaphoreSettings.MAX_CONNECTIONS), environment);
    }

    @Bean
    @ConditionalOnMissingBean
    SemaphoreSettings semaphoreSettings(
            SemaphoreProperties properties,
            Environment environment,
            ObjectProvider<SemaphoreSettingsCustomizer> customizers) {
        return SemaphoreConfigurationException.explaining(() -> {
            SemaphoreSettings settings = properties.toSettings(environment, InstanceOwner.of(environment));
            for (SemaphoreSettingsCustomizer customizer :
                    customizers.orderedStream().toList()) {
                settings = customizer.customize(settings);
            }
            return settings;
        });
    }

    @Bean
    DeclaredSemaphores declaredSemaphores(SemaphoreProperties properties, SemaphoreSettings settings) {
        return new DeclaredSemaphores(properties, settings.get(SemaphoreSettings.OWNER));
    }

    @Bean
    static BeanFactoryPostProcessor semaphoreKeys(ConfigurableEnvironment environment) {
        return beanFactory -> {
            DeclaredSemaphores.checkKeys(environment);
            OwnPool.checkKeys(environment);
        };
    }

    /** Not lazy: unknown names and methods that cannot be guarded must fail the start, even those of beans that are created later. */
    @Bean
    @Lazy(false)
    SmartInitializingSingleton annotatedNamesCheck(
            SemaphoreEngine engine,
            DeclaredSemaphores declaredSemaphores,
            SemaphoreSettings settings,
            ObjectProvider<WithPermitsAdvisor> advisors,
            ConfigurableListableBeanFactory beanFactory) {
        return () -> {
            List<WithPermitsAdvisor> all = advisors.stream().toList();
            List<String> created = new ArrayList<>();
            for (String name : beanFactory.getBeanDefinitionNames()) {
                boolean isCreated = beanFactory.containsSingleton(name) && !beanFactory.isFactoryBean(name);
                Class<?> type = isCreated ? null : AdviceConfiguration.typeOf(name, beanFactory);
                if (isCreated) {
                    created.add(name);
                } else if (type != null) {
                    all.forEach(advisor -> advisor.getClassFilter().matches(type));
                }
            }
            declaredSemaphores.checkAnnotatedNames(engine.admin(), settings, all.stream());
            created.forEach(name -> AdviceConfiguration.warnIfUnguarded(name, beanFactory, all));
        };
    }

    /** Only in the context of the engine, like the beans below: a context that uses its parent's engine also uses its parent's beans. */
    @Bean
    @ConditionalOnBean(value = SemaphoreEngine.class, search = SearchStrategy.CURRENT)
    @ConditionalOnMissingBean(value = SemaphoreOperations.class, search = SearchStrategy.CURRENT)
    SemaphoreTemplate semaphoreTemplate(SemaphoreEngine engine, ObjectProvider<PermitManagerDecorator> decorators) {
        PermitManager manager = engine.permitManager();
        for (PermitManagerDecorator decorator : decorators.orderedStream().toList()) {
            manager = decorator.decorate(manager);
        }
        return new SemaphoreTemplate(manager);
    }

    @Bean
    @ConditionalOnBean(value = SemaphoreEngine.class, search = SearchStrategy.CURRENT)
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    SemaphoreAdmin semaphoreAdmin(SemaphoreEngine engine) {
        return engine.admin();
    }

    @Bean
    @ConditionalOnBean(value = SemaphoreEngine.class, search = SearchStrategy.CURRENT)
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    SemaphoreMaintenance semaphoreMaintenance(SemaphoreEngine engine) {
        return engine.maintenance();
    }

    /** Not lazy: failures must be found at start. */
    @Bean
    @Lazy(false)
    SemaphoreLifecycle semaphoreLifecycle(
            SemaphoreEngine engine, DeclaredSemaphores declaredSemaphores, ConfigurableApplicationContext context) {
        return new SemaphoreLifecycle(engine, declaredSemaphores, context);
    }

    /**
     * Also matches if the configured bean does not exist, so that the start fails with an explanation, and if the annotated bean is not a
     * candidate for injection elsewhere.
     */
    static final class OnDataSource extends AnyNestedCondition {

        OnDataSource() {
            super(ConfigurationPhase.REGISTER_BEAN);
        }

        @ConditionalOnBean(DataSource.class)
        static final class Present {}

        @Conditional(NamedOrAnnotated.class)
        static final class NamedOrAnnotated implements Condition {

            @Override
            public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
                return StringUtils.hasText(context.getEnvironment().getProperty("semaphore.datasource"))
                        || DataSourceChoice.hasAnnotated(Objects.requireNonNull(context.getBeanFactory()));
            }
        }

        @ConditionalOnProperty(OwnPool.Properties.URL)
        static final class Own {}
    }

    /**
     * The beans that the engine calls. They are looked up when all beans have been created, on the thread that created them. A thread of
     * the library that looked them up earlier would wait for the thread that creates beans, which may be waiting for a permit.
     */
    static final class ListenerBeans implements SmartInitializingSingleton {

        private final ObjectProvider<SemaphoreListener> listenerBeans;
        private final ObjectProvider<OwnerLiveness> livenessBeans;
        private final ObjectProvider<CapacityProvider> capacityBeans;
        private final ObjectProvider<ShareWeights> weightBeans;

        /** Null until all beans have been created. */
        private volatile @Nullable List<SemaphoreListener> listeners;

        private volatile List<OwnerLiveness> ownerLiveness = List.of();

        /** If any bean is a provider, null until all beans have been created. */
        private volatile @Nullable List<CapacityProvider> capacityProviders;

        /** Null until all beans have been created, and if none gives weights. */
        private volatile @Nullable ShareWeights shareWeights;

        ListenerBeans(
                ObjectProvider<SemaphoreListener> listenerBeans,
                ObjectProvider<OwnerLiveness> livenessBeans,
                ObjectProvider<CapacityProvider> capacityBeans,
                ObjectProvider<ShareWeights> weightBeans,
                ListableBeanFactory beanFactory) {
            this.listenerBeans = listenerBeans;
            this.livenessBeans = livenessBeans;
            this.capacityBeans = capacityBeans;
            this.weightBeans = weightBeans;
            boolean hasProviders = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(
                                    beanFactory, CapacityProvider.class, true, false)
                            .length
                    > 0;
            capacityProviders = hasProviders ? null : List.of();
        }

        @Override
        public void afterSingletonsInstantiated() {
            ownerLiveness = livenessBeans.orderedStream().toList();
            capacityProviders = capacityBeans.orderedStream().toList();
            shareWeights = weightBeans.getIfAvailable();
            listeners = listenerBeans.orderedStream().toList();
        }
    }

    /** Warns that the properties of adapters have no effect. */
    @Bean
    @Lazy(false)
    @ConditionalOnMissingClass("io.dbsemaphore.boot.mutex.MutexRequests")
    static SmartInitializingSingleton missingSemaphoreAdapters(Environment environment) {
        return () -> Stream.of("spring-integration", "shedlock")
                .map("semaphore.adapters.%s.enabled"::formatted)
                .filter(property -> environment.getProperty(property, Boolean.class, false))
                .forEach(property -> LoggerFactory.getLogger(SemaphoreAutoConfiguration.class)
                        .warn(
                                "{}=true has no effect without the dependency io.dbsemaphore:semaphore-adapters: its"
                                        + " locks are no semaphores. Add it, or remove the property",
                                property));
    }
}
