package io.dbsemaphore.engine.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariConfig;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.rerun.Promise;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * {@code requireHeld} on a pool whose connections have auto-commit off: one that Spring has only bound to a transaction of another
 * resource has it off, too.
 */
@Promise
class RequireHeldWithoutAutoCommitIntegrationTests {

    private static Schema schema;
    private static Node node;

    private final String name = node.semaphore(1);
    private final PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name));

    @BeforeAll
    static void start() {
        schema = TestDatabase.create().migrate();
        HikariConfig config = schema.poolConfig(6, schema.jdbcUrl());
        config.setAutoCommit(false);
        node = new Node(schema.newPool(config), TestSettings.defaults());
    }

    @AfterAll
    static void stop() {
        node.close();
        schema.close();
    }

    @AfterEach
    void release() {
        grant.release();
    }

    /** The connection that was read on is rolled back before the other transaction commits, and with it the lock. */
    @Test
    void isRefusedInATransactionOfAnotherDataSource() {
        assertRefused(new DataSourceTransactionManager(schema.newPool(1)), TransactionDefinition.PROPAGATION_REQUIRED);
    }

    @Test
    void isRefusedWhereATransactionIsOnlySynchronized() {
        assertRefused(new DataSourceTransactionManager(node.gate()), TransactionDefinition.PROPAGATION_SUPPORTS);
    }

    private void assertRefused(PlatformTransactionManager transactions, int propagation) {
        TransactionTemplate transaction = new TransactionTemplate(transactions);
        transaction.setPropagationBehavior(propagation);

        assertThatExceptionOfType(IllegalTransactionStateException.class)
                .isThrownBy(() -> transaction.executeWithoutResult(status -> {
                    read();
                    node.semaphores().requireHeld(grant);
                }))
                .withMessageContainingAll(grant.externalId(), "DataSource of the semaphores");
    }

    @Test
    void passesInATransactionOfJdbc() {
        assertPasses(new DataSourceTransactionManager(node.gate()));
    }

    @Test
    void passesInATransactionOfJpa() {
        LocalContainerEntityManagerFactoryBean jpa = new LocalContainerEntityManagerFactoryBean();
        jpa.setDataSource(node.gate());
        jpa.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
        jpa.setPackagesToScan("none");
        jpa.afterPropertiesSet();
        try {
            assertPasses(new JpaTransactionManager(Objects.requireNonNull(jpa.getObject())));
        } finally {
            jpa.destroy();
        }
    }

    private void assertPasses(PlatformTransactionManager transactions) {
        TransactionTemplate transaction = new TransactionTemplate(transactions);

        transaction.executeWithoutResult(status -> node.semaphores().requireHeld(grant));
        transaction.executeWithoutResult(status -> {
            read();
            node.semaphores().requireHeld(grant);
        });

        assertThat(grant.isHeld()).isTrue();
    }

    private static void read() {
        node.jdbc().queryForList("select id from semaphore");
    }
}
