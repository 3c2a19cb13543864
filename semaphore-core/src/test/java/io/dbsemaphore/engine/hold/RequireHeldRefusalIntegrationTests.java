package io.dbsemaphore.engine.hold;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** {@code requireHeld} needs a writable transaction on the data source of the semaphores. */
class RequireHeldRefusalIntegrationTests {

    @RegisterExtension
    static final Cluster cluster = new Cluster(2);

    private final Node node = cluster.node(0);
    private final Node other = cluster.node(1);
    private final String name = cluster.semaphore(1);

    @BeforeEach
    void createBusinessTable() {
        JdbcTemplate jdbc = cluster.schema().jdbc();
        jdbc.execute("drop table if exists business");
        jdbc.execute("create table business (id int primary key)");
    }

    @AfterEach
    void forgetStatements() {
        other.gate().clear();
    }

    @Test
    void refusesWithoutATransaction() {
        PermitGrant grant = acquire();

        assertRefused(grant, "transaction", () -> node.semaphores().requireHeld(grant));
    }

    @Test
    void refusesInAReadOnlyTransaction() {
        PermitGrant grant = acquire();
        TransactionTemplate readOnly = node.transaction();
        readOnly.setReadOnly(true);

        assertRefused(
                grant,
                "writable",
                () -> readOnly.executeWithoutResult(status -> node.semaphores().requireHeld(grant)));
    }

    @Test
    void refusesInATransactionOfAnotherDataSource() {
        PermitGrant grant = acquire();

        assertRefused(
                grant,
                "DataSource",
                () -> other.transaction()
                        .executeWithoutResult(status -> node.semaphores().requireHeld(grant)));
        assertRefused(
                grant,
                "DataSource",
                () -> other.transaction().executeWithoutResult(status -> {
                    node.jdbc()
                            .queryForList(
                                    "select * from business"); // a connection that is bound, but commits by itself
                    node.semaphores().requireHeld(grant);
                }));
    }

    @Test
    void refusesWhereATransactionIsOnlySynchronized() {
        PermitGrant grant = acquire();
        TransactionTemplate supports = node.transaction();
        supports.setPropagationBehavior(TransactionDefinition.PROPAGATION_SUPPORTS);

        assertRefused(
                grant,
                "transaction",
                () -> supports.executeWithoutResult(status -> node.semaphores().requireHeld(grant)));
    }

    private PermitGrant acquire() {
        node.gate().clear();
        return node.semaphores().acquire(AcquireRequest.of(name));
    }

    private static void assertRefused(PermitGrant grant, String messagePart, Runnable check) {
        assertThatExceptionOfType(IllegalTransactionStateException.class)
                .isThrownBy(check::run)
                .withMessageContainingAll(grant.externalId(), messagePart);
    }
}
