package io.dbsemaphore.persistence.unit;

import jakarta.persistence.EntityManager;
import java.util.ArrayList;
import java.util.List;
import org.springframework.aop.TargetSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.DelegatingIntroductionInterceptor;
import org.springframework.data.jpa.repository.query.QueryEnhancerFactories;
import org.springframework.data.jpa.repository.support.JpaRepositoryFactory;
import org.springframework.data.repository.core.support.RepositoryComposition.RepositoryFragments;
import org.springframework.data.repository.core.support.RepositoryFragment;
import org.springframework.util.function.SingletonSupplier;

/**
 * Creates each repository on first use, since creation parses all of its queries and would slow down application startup.
 * Spring Data's HQL parser is not used: no query of the library is sorted or paged by Spring Data.
 */
public final class LazyRepositories {

    private final JpaRepositoryFactory factory;
    private final List<SingletonSupplier<Object>> withFragments = new ArrayList<>();
    private final ClassLoader classLoader = LazyRepositories.class.getClassLoader();

    public LazyRepositories(EntityManager entityManager) {
        factory = new JpaRepositoryFactory(entityManager);
        // the thread's context class loader may not see the package-private interfaces
        factory.setBeanClassLoader(classLoader);
        factory.setQueryEnhancerSelector(query -> QueryEnhancerFactories.fallback());
    }

    public <T> T get(Class<T> type) {
        return make(type, lazily(type, SingletonSupplier.of(() -> create(type, RepositoryFragments.empty()))));
    }

    /**
     * A repository with a fragment. Calls of the fragment's methods skip the interceptors of Spring Data, which would do nothing
     * for them: every batch makes about ten such calls.
     */
    public <T, F> T get(Class<T> type, Class<F> fragment, F implementation) {
        RepositoryFragments fragments =
                RepositoryFragments.of(RepositoryFragment.implemented(fragment, implementation));
        SingletonSupplier<Object> repository = SingletonSupplier.of(() -> create(type, fragments));
        withFragments.add(repository);
        ProxyFactory proxy = lazily(type, repository);
        proxy.addAdvice(new DelegatingIntroductionInterceptor(implementation));
        return make(type, proxy);
    }

    /** Creates the repositories with fragments, which are those that acquires use. */
    public void createWithFragments() {
        withFragments.forEach(SingletonSupplier::obtain);
    }

    private static ProxyFactory lazily(Class<?> type, SingletonSupplier<Object> repository) {
        ProxyFactory proxy = new ProxyFactory();
        proxy.setInterfaces(type);
        proxy.setOpaque(true);
        proxy.setTargetSource(new LazyTarget(type, repository));
        return proxy;
    }

    private <T> T make(Class<T> type, ProxyFactory proxy) {
        return type.cast(proxy.getProxy(classLoader));
    }

    /** Synchronized, because the factory is not thread-safe. */
    private synchronized Object create(Class<?> type, RepositoryFragments fragments) {
        return factory.getRepository(type, fragments);
    }

    private record LazyTarget(Class<?> type, SingletonSupplier<Object> repository) implements TargetSource {

        @Override
        public Class<?> getTargetClass() {
            return type;
        }

        @Override
        public Object getTarget() {
            return repository.obtain();
        }
    }
}
