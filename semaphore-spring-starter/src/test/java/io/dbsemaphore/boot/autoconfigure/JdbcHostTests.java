package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.annotation.WithPermits;
import jakarta.persistence.EntityManagerFactory;
import java.util.UUID;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.liquibase.autoconfigure.LiquibaseAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/** An application that has a {@code JdbcTemplate} and no JPA. */
class JdbcHostTests {

    private final ApplicationContextRunner host = Hosts.jdbcWithoutTables()
            .withConfiguration(AutoConfigurations.of(LiquibaseAutoConfiguration.class))
            .withPropertyValues(
                    "spring.liquibase.change-log=classpath:com/example/orders/changelog.xml",
                    "semaphore.semaphores.orders.capacity=1")
            .withBean(TransactionWitness.class)
            .withBean(Orders.class);

    @Test
    void staysWithoutJpa() {
        host.run(context -> {
            assertThat(context).doesNotHaveBean(EntityManagerFactory.class);
            assertThat(context.getBean(PlatformTransactionManager.class)).isInstanceOf(JdbcTransactionManager.class);
        });
    }

    @Test
    void acquiresBeforeItsTransactionBeginsAndReleasesAfterItCommitted() {
        host.run(context -> {
            context.getBean(Orders.class).place(1);

            assertThat(context.getBean(TransactionWitness.class).seen())
                    .containsExactly("begins: 1 held, 0 orders", "committed: 1 held, 1 orders");
            assertThat(held(context)).isZero();
        });
    }

    @Test
    void mayPutItsTransactionsAroundThePermits() {
        host.withUserConfiguration(TransactionsOutside.class).run(context -> {
            context.getBean(Orders.class).place(1);

            assertThat(context.getBean(TransactionWitness.class).seen())
                    .containsExactly("begins: 0 held, 0 orders", "committed: 0 held, 1 orders");
        });
    }

    @Test
    void keepsAPermitThatWasAcquiredInATransactionThatRollsBack() {
        host.run(context -> {
            context.getBean(TransactionTemplate.class).executeWithoutResult(status -> {
                insert(context.getBean(JdbcTemplate.class), 1);
                context.getBean(SemaphoreTemplate.class).acquire(AcquireRequest.of("orders"));
                status.setRollbackOnly();
            });

            assertThat(held(context)).isEqualTo(1);
            assertThat(context.getBean(TransactionWitness.class).seen().get(1)).startsWith("rolled back: 1 held, 0");
        });
    }

    @Test
    void cannotCommitOnAPermitThatIsLost() {
        host.run(context -> {
            SemaphoreTemplate semaphores = context.getBean(SemaphoreTemplate.class);
            PermitGrant grant = semaphores.acquire(AcquireRequest.of("orders"));
            context.getBean(SemaphoreAdmin.class).forceRelease(grant.externalId(), "ops", "stuck");

            assertThatExceptionOfType(PermitLostException.class)
                    .isThrownBy(() -> context.getBean(TransactionTemplate.class).executeWithoutResult(status -> {
                        insert(context.getBean(JdbcTemplate.class), 1);
                        semaphores.requireHeld(grant);
                    }));

            assertThat(context.getBean(TransactionWitness.class).seen().get(1)).startsWith("rolled back: 0 held, 0");
        });
    }

    @ParameterizedTest
    @MethodSource("dataSources")
    void checksAPermitOnWhateverDataSourceItsTransactionsAreOn(DataSource dataSource) {
        Hosts.jdbc()
                .withBean("dataSource", DataSource.class, () -> dataSource)
                .withPropertyValues("semaphore.semaphores.orders.capacity=1")
                .run(context -> {
                    SemaphoreTemplate semaphores = context.getBean(SemaphoreTemplate.class);
                    PermitGrant grant = semaphores.acquire(AcquireRequest.of("orders"));

                    assertThatCode(() -> context.getBean(TransactionTemplate.class)
                                    .executeWithoutResult(status -> semaphores.requireHeld(grant)))
                            .doesNotThrowAnyException();
                });
    }

    static Stream<DataSource> dataSources() {
        return Stream.of(
                unpooled(),
                new LazyConnectionDataSourceProxy(unpooled()),
                new TransactionAwareDataSourceProxy(unpooled()));
    }

    private static DataSource unpooled() {
        return new DriverManagerDataSource("jdbc:h2:mem:%s;DB_CLOSE_DELAY=-1".formatted(UUID.randomUUID()));
    }

    private static long held(ApplicationContext context) {
        return context.getBean(SemaphoreAdmin.class)
                .find("orders")
                .orElseThrow()
                .held();
    }

    private static void insert(JdbcTemplate jdbc, long id) {
        jdbc.update("insert into customer_order (id, customer_name) values (?, 'Ada')", id);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(order = 0, proxyTargetClass = true)
    static class TransactionsOutside {}

    static class Orders {

        private final JdbcTemplate jdbc;

        Orders(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @Transactional
        @WithPermits("orders")
        public void place(long id) {
            insert(jdbc, id);
        }
    }
}
