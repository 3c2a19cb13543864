package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.example.orders.CustomerOrder;
import com.example.orders.CustomerOrderRepository;
import com.example.orders.OrderService;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.metamodel.EntityType;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** An application with entities, repositories and a changelog of its own does not notice ours. */
@ExtendWith(OutputCaptureExtension.class)
class JpaHostTests {

    private static final String ONE_PERMIT = "semaphore.semaphores.orders.capacity=1";

    private ConfigurableApplicationContext host;

    @AfterEach
    void stop() {
        host.close();
    }

    @Test
    void hasOnePersistenceUnitAndOneTransactionManager() {
        host = Hosts.orders(ONE_PERMIT);

        assertThat(host.getBeansOfType(EntityManagerFactory.class)).containsOnlyKeys("entityManagerFactory");
        assertThat(host.getBeansOfType(PlatformTransactionManager.class))
                .hasSize(1)
                .containsEntry("transactionManager", host.getBean(JpaTransactionManager.class));
        assertThat(host.getBeansOfType(DataSource.class)).containsOnlyKeys("dataSource");
        assertThat(host.getBean(EntityManagerFactory.class).getMetamodel().getEntities())
                .extracting(EntityType::getName)
                .containsExactly("CustomerOrder");
    }

    @Test
    void readsAndWritesThroughItsRepositories() {
        host = Hosts.orders(ONE_PERMIT);

        host.getBean(OrderService.class).place(1, "Ada");

        assertThat(host.getBean(CustomerOrderRepository.class).findByCustomerName("Ada"))
                .hasSize(1);
    }

    @Test
    void rollsItsTransactionsBack() {
        host = Hosts.orders(ONE_PERMIT);

        assertThatIllegalStateException()
                .isThrownBy(() -> host.getBean(OrderService.class).placeAndFail(1, "Ada"));

        assertThat(host.getBean(CustomerOrderRepository.class).count()).isZero();
    }

    @Test
    void validatesItsSchema() {
        host = Hosts.orders("spring.jpa.hibernate.ddl-auto=validate", ONE_PERMIT);

        host.getBean(OrderService.class).placeUnderPermit(1, "Ada");

        assertThat(host.getBean(CustomerOrderRepository.class).count()).isEqualTo(1);
    }

    @Test
    void mayIncludeTheChangelogInYaml() {
        host = Hosts.orders("spring.liquibase.change-log=classpath:com/example/orders/changelog.yaml", ONE_PERMIT);

        host.getBean(OrderService.class).placeUnderPermit(1, "Ada");

        assertThat(host.getBean(CustomerOrderRepository.class).count()).isEqualTo(1);
    }

    @Test
    void mayHaveItsTablesMadeByHibernate() {
        host = Hosts.orders(
                "spring.liquibase.enabled=false",
                "spring.jpa.hibernate.ddl-auto=create",
                "semaphore.liquibase.enabled=true",
                ONE_PERMIT);

        host.getBean(OrderService.class).placeUnderPermit(1, "Ada");

        assertThat(host.getBean(CustomerOrderRepository.class).count()).isEqualTo(1);
    }

    @Test
    void acquiresBeforeItsTransactionBeginsAndReleasesAfterItCommitted() {
        host = Hosts.orders(TransactionWitness.class, ONE_PERMIT);

        host.getBean(OrderService.class).placeUnderPermit(1, "Ada");

        assertThat(host.getBean(TransactionWitness.class).seen())
                .containsExactly("begins: 1 held, 0 orders", "committed: 1 held, 1 orders");
        assertThat(held()).isZero();
    }

    @Test
    void keepsAPermitThatWasAcquiredInATransactionThatRollsBack() {
        host = Hosts.orders(ONE_PERMIT);

        host.getBean(TransactionTemplate.class).executeWithoutResult(status -> {
            host.getBean(CustomerOrderRepository.class).saveAndFlush(new CustomerOrder(1, "Ada"));
            host.getBean(SemaphoreTemplate.class).acquire(AcquireRequest.of("orders"));
            status.setRollbackOnly();
        });

        assertThat(host.getBean(CustomerOrderRepository.class).count()).isZero();
        assertThat(held()).isEqualTo(1);
    }

    @Test
    void goesOnWithItsTransactionAfterAnAcquireThatFailed() {
        host = Hosts.orders(ONE_PERMIT);
        SemaphoreTemplate semaphores = host.getBean(SemaphoreTemplate.class);
        semaphores.acquire(AcquireRequest.of("orders"));

        host.getBean(TransactionTemplate.class).executeWithoutResult(status -> {
            host.getBean(CustomerOrderRepository.class).saveAndFlush(new CustomerOrder(1, "Ada"));
            assertThat(semaphores.tryAcquire(AcquireRequest.of("orders"))).isEmpty();
            host.getBean(CustomerOrderRepository.class).saveAndFlush(new CustomerOrder(2, "Bob"));
        });

        assertThat(host.getBean(CustomerOrderRepository.class).count()).isEqualTo(2);
    }

    @Test
    void startsWithoutWarnings(CapturedOutput output) {
        host = Hosts.orders("spring.jpa.open-in-view=false", ONE_PERMIT);

        assertThat(output).doesNotContain("WARN").doesNotContain("not eligible");
    }

    private long held() {
        return host.getBean(SemaphoreAdmin.class).find("orders").orElseThrow().held();
    }
}
