package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.annotation.WithPermits;
import java.util.Set;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.context.annotation.Bean;

/** Beans that are proxies already, before they are guarded. */
class ProxiedTargetTests {

    @Test
    void guardsAProxyOfAnInterfaceThatItsTargetDoesNotImplement() {
        try (GuardedContext context = GuardedContext.of(RepositoryFactory.class)) {
            Repository repository = context.bean(Repository.class);

            assertThat(repository.find("x")).containsExactly("repository:x");
            assertThat(repository.findAll()).isEmpty();
            assertThat(context.permits.requests).hasSize(1);
        }
    }

    @Test
    void callsThePrivateFallbackMethodOfTheTarget() {
        try (GuardedContext context = GuardedContext.of(StoreFactory.class)) {
            assertThat(context.bean(Store.class).read()).containsExactly("store");
            context.permits.capacity("store", 0);

            assertThat(context.bean(Store.class).read()).containsExactly("the state of the target");
        }
    }

    @Test
    void acquiresOnceWhereAnotherAutoProxyCreatorAppliesTheAdviceToo() {
        try (GuardedContext context = GuardedContext.of(AnotherAutoProxyCreator.class, Mail.class)) {
            assertThat(context.bean(Mail.class).send()).containsExactly("mail");
            assertThat(context.permits.requests).hasSize(1);
        }
    }

    interface Repository {

        @WithPermits("repository:#{#id}")
        Set<String> find(String id);

        Set<String> findAll();
    }

    /** As Spring Data has them: the interceptors of the proxy find the method of the target. */
    static class SimpleRepository {

        Set<String> read() {
            return TypeLevelTests.held();
        }
    }

    static class RepositoryFactory implements FactoryBean<Repository> {

        @Override
        public Repository getObject() {
            SimpleRepository target = new SimpleRepository();
            ProxyFactory factory = new ProxyFactory();
            factory.setTarget(target);
            factory.setInterfaces(Repository.class);
            factory.addAdvice((MethodInterceptor) invocation -> target.read());
            return (Repository) factory.getProxy();
        }

        @Override
        public Class<?> getObjectType() {
            return Repository.class;
        }
    }

    static class Store {

        private final String state;

        Store(String state) {
            this.state = state;
        }

        @WithPermits(names = "store", fallbackMethod = "readLater")
        public Set<String> read() {
            return TypeLevelTests.held();
        }

        @SuppressWarnings("UnusedMethod") // called by its name
        private Set<String> readLater() {
            return Set.of(state);
        }
    }

    static class StoreFactory implements FactoryBean<Store> {

        @Override
        public Store getObject() {
            ProxyFactory factory = new ProxyFactory(new Store("the state of the target"));
            factory.setProxyTargetClass(true);
            return (Store) factory.getProxy();
        }

        @Override
        public Class<?> getObjectType() {
            return Store.class;
        }
    }

    static class AnotherAutoProxyCreator {

        @Bean
        static DefaultAdvisorAutoProxyCreator anotherAutoProxyCreator() {
            DefaultAdvisorAutoProxyCreator creator = new DefaultAdvisorAutoProxyCreator();
            creator.setProxyTargetClass(true);
            return creator;
        }
    }

    static class Mail {

        @WithPermits("mail")
        public Set<String> send() {
            return TypeLevelTests.held();
        }
    }
}
