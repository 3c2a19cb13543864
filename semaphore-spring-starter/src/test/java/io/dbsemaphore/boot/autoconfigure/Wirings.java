package io.dbsemaphore.boot.autoconfigure;

import com.example.Bookkeeping;
import com.example.orders.CustomerOrder;
import com.example.orders.CustomerOrderRepository;
import io.dbsemaphore.annotation.WithPermits;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import java.util.Map;
import javax.sql.DataSource;
import org.hibernate.boot.model.naming.Identifier;
import org.hibernate.boot.model.naming.PhysicalNamingStrategySnakeCaseImpl;
import org.hibernate.engine.jdbc.env.spi.JdbcEnvironment;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** What the applications of the host matrix are made of beside their own classes. */
final class Wirings {

    private Wirings() {}

    static DataSource database() {
        return new EmbeddedDatabaseBuilder()
                .setType(EmbeddedDatabaseType.H2)
                .generateUniqueName(true)
                .build();
    }

    private static LocalContainerEntityManagerFactoryBean ordersUnit(DataSource dataSource, String ddl) {
        LocalContainerEntityManagerFactoryBean unit = new LocalContainerEntityManagerFactoryBean();
        unit.setDataSource(dataSource);
        unit.setPackagesToScan(CustomerOrder.class.getPackageName());
        unit.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
        unit.setJpaPropertyMap(Map.of(
                "hibernate.physical_naming_strategy",
                PhysicalNamingStrategySnakeCaseImpl.class.getName(),
                "hibernate.hbm2ddl.auto",
                ddl));
        return unit;
    }

    @Configuration(proxyBeanMethods = false)
    static class HandWritten {

        @Bean({"handWritten", "entityManagerFactory"})
        LocalContainerEntityManagerFactoryBean handWritten(DataSource dataSource) {
            return ordersUnit(dataSource, "validate");
        }

        @Bean
        PlatformTransactionManager transactionManager(EntityManagerFactory factory) {
            return new JpaTransactionManager(factory);
        }
    }

    public interface GuardedOrders extends JpaRepository<CustomerOrder, Long> {

        @Override
        @WithPermits("orders")
        long count();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableJpaRepositories(
            basePackageClasses = {GuardedOrders.class, CustomerOrder.class},
            considerNestedRepositories = true)
    static class GuardedRepository {}

    @Configuration(proxyBeanMethods = false)
    static class TwoOnePrimary {

        @Bean
        @Primary
        DataSource orders() {
            return database();
        }

        @Bean
        DataSource billing() {
            return database();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoEquals {

        @Bean
        DataSource orders() {
            return database();
        }

        @Bean
        DataSource billing() {
            return database();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoNonePrimary extends TwoEquals {

        @Bean
        LocalContainerEntityManagerFactoryBean entityManagerFactory(@Qualifier("orders") DataSource orders) {
            return ordersUnit(orders, "create");
        }

        @Bean
        PlatformTransactionManager transactionManager(EntityManagerFactory factory) {
            return new JpaTransactionManager(factory);
        }
    }

    /** Tables in capital letters, behind a prefix. */
    public static final class Prefixed extends PhysicalNamingStrategySnakeCaseImpl {

        private static final long serialVersionUID = 1L;

        @Override
        public Identifier toPhysicalTableName(Identifier name, JdbcEnvironment environment) {
            return Identifier.toIdentifier(
                    "T_" + super.toPhysicalTableName(name, environment).getText());
        }
    }

    @RestController
    static class OrderController {

        private final CustomerOrderRepository orders;
        private final Bookkeeping books;
        private final EntityManager entityManager;

        OrderController(CustomerOrderRepository orders, Bookkeeping books, EntityManager entityManager) {
            this.orders = orders;
            this.books = books;
            this.entityManager = entityManager;
        }

        @GetMapping("/orders/next")
        String next() {
            CustomerOrder order = orders.findById(1L).orElseThrow();
            boolean before = entityManager.contains(order);
            boolean underPermit = books.bookUnderPermit(4);
            return "managed before: %s, under a permit: %s, managed after: %s"
                    .formatted(before, underPermit, entityManager.contains(order));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(order = 0, proxyTargetClass = true)
    static class TransactionsFirst {}

    @Configuration(proxyBeanMethods = false)
    @EnableMethodSecurity
    static class Secured {

        @Bean
        Vault vault(Bookkeeping books) {
            return new Vault(books);
        }
    }

    static class Vault {

        private final Bookkeeping books;

        Vault(Bookkeeping books) {
            this.books = books;
        }

        @PreAuthorize("hasRole('CLERK')")
        @WithPermits("orders")
        public void open(long id) {
            books.book(id);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Tenants {

        static final ThreadLocal<String> CURRENT = ThreadLocal.withInitial(() -> "north");

        @Bean
        DataSource north() {
            return database();
        }

        @Bean
        DataSource south() {
            return database();
        }

        @Bean
        DataSource central() {
            return database();
        }

        @Bean
        @Primary
        DataSource routing(@Qualifier("north") DataSource north, @Qualifier("south") DataSource south) {
            AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {
                @Override
                protected Object determineCurrentLookupKey() {
                    return CURRENT.get();
                }
            };
            routing.setTargetDataSources(Map.of("north", north, "south", south));
            return routing;
        }
    }
}
