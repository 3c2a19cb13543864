package io.dbsemaphore.persistence;

import jakarta.persistence.EntityManager;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.springframework.data.jpa.repository.query.QueryEnhancerFactories;
import org.springframework.data.jpa.repository.support.JpaRepositoryFactory;
import org.springframework.util.function.SingletonSupplier;

/**
 * Makes repositories when they are first used: each parses all of its queries then, which an application that starts
 * should not wait for. Spring Data's own parser of HQL is left out, since no query of ours is sorted or paged by it.
 */
final class LazyRepositories {

    private final JpaRepositoryFactory factory;
    private final ClassLoader classLoader = LazyRepositories.class.getClassLoader();

    LazyRepositories(EntityManager entityManager) {
        factory = new JpaRepositoryFactory(entityManager);
        // the thread's own class loader may be another, which cannot see interfaces that are package-private here
        factory.setBeanClassLoader(classLoader);
        factory.setQueryEnhancerSelector(query -> QueryEnhancerFactories.fallback());
    }

    <T> T get(Class<T> type) {
        SingletonSupplier<T> repository = SingletonSupplier.of(() -> make(type));
        return type.cast(Proxy.newProxyInstance(classLoader, new Class<?>[] {type}, (proxy, method, arguments) -> {
            try {
                return method.invoke(repository.obtain(), arguments);
            } catch (InvocationTargetException failure) {
                throw failure.getTargetException();
            }
        }));
    }

    /** One at a time: the factory is not made for several threads. */
    private synchronized <T> T make(Class<T> type) {
        return factory.getRepository(type);
    }
}
