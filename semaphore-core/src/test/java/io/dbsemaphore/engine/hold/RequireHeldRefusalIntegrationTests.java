package io.dbsemaphore.engine.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** {@code requireHeld} needs a writable transaction on the data source of the semaphores. */
class RequireHeldRefusalIntegrationTests extends RequireHeldFixture {

    private boolean refused;

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

    /** A release that is deferred to the end of such a transaction would never take place. */
    @Test
    void refusesInATransactionThatHasCompleted() {
        PermitGrant grant = acquire();

        node.transaction().executeWithoutResult(status -> {
            doBusiness();
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void afterCompletion(int completed) {
                    assertRefused(grant, "transaction", () -> node.semaphores().requireHeld(grant));
                    refused = true;
                }
            });
        });

        assertThat(refused).isTrue();
        assertThat(grant.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(cluster.held(name)).isZero();
    }

    private static void assertRefused(PermitGrant grant, String messagePart, Runnable check) {
        assertThatExceptionOfType(IllegalTransactionStateException.class)
                .isThrownBy(check::run)
                .withMessageContainingAll(grant.externalId(), messagePart);
    }
}
