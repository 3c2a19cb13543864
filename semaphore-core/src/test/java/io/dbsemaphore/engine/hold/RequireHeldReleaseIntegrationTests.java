package io.dbsemaphore.engine.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.rerun.Promise;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** A release of a grant that an open transaction has checked is put off until that transaction has ended. */
@Promise
class RequireHeldReleaseIntegrationTests extends RequireHeldFixture {

    private static final Duration SOON = Duration.ofSeconds(20);

    @Test
    void putsAReleaseOffUntilTheCheckedTransactionHasCommitted() {
        PermitGrant grant = acquire();

        node.transaction().executeWithoutResult(status -> {
            node.semaphores().requireHeld(grant);
            assertThat(grant.release()).isEqualTo(ReleaseOutcome.DEFERRED);
            assertThat(grant.isHeld()).isEqualTo(false);
            assertThat(cluster.held(name)).isEqualTo(1);
            doBusiness();
        });

        awaitReleased();
        assertThat(businessDone()).isEqualTo(1);
        assertThat(node.semaphores().release(grant.externalId())).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);
    }

    @Test
    void putsAReleaseOffUntilTheCheckedTransactionHasRolledBack() {
        PermitGrant grant = acquire();

        node.transaction().executeWithoutResult(status -> {
            node.semaphores().requireHeld(grant);
            node.semaphores().requireHeld(grant);
            assertThat(node.semaphores().release(grant.externalId())).isEqualTo(ReleaseOutcome.DEFERRED);
            assertThat(cluster.held(name)).isEqualTo(1);
            status.setRollbackOnly();
        });

        awaitReleased();
    }

    @Test
    void putsEveryReleaseOffHoweverItIsAskedFor() {
        PermitGrant grant = acquire();

        node.transaction().executeWithoutResult(status -> {
            node.semaphores().requireHeld(grant);
            assertThat(grant.release()).isEqualTo(ReleaseOutcome.DEFERRED);
            assertThat(grant.release()).isEqualTo(ReleaseOutcome.DEFERRED);
            assertThat(node.semaphores().release(grant.externalId())).isEqualTo(ReleaseOutcome.DEFERRED);
            assertThat(node.admin().forceRelease(grant.externalId(), "operator", "stuck"))
                    .isEqualTo(ReleaseOutcome.DEFERRED);
        });

        awaitReleased();
    }

    @Test
    void putsAReleaseOffWhileTheCheckedTransactionIsSuspended() {
        PermitGrant grant = acquire();
        TransactionTemplate notSupported = node.transaction();
        notSupported.setPropagationBehavior(TransactionDefinition.PROPAGATION_NOT_SUPPORTED);

        node.transaction().executeWithoutResult(outer -> {
            node.semaphores().requireHeld(grant);
            node.innerTransaction()
                    .executeWithoutResult(inner -> assertThat(grant.release()).isEqualTo(ReleaseOutcome.DEFERRED));
            notSupported.executeWithoutResult(
                    inner -> assertThat(grant.release()).isEqualTo(ReleaseOutcome.DEFERRED));
            assertThat(cluster.held(name)).isEqualTo(1);
        });

        awaitReleased();
    }

    @Test
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL}) // H2 has no shared row lock
    void putsAReleaseOffUntilTheLastOfTheCheckedTransactionsHasEnded() {
        PermitGrant grant = acquire();

        node.transaction().executeWithoutResult(outer -> {
            node.semaphores().requireHeld(grant);
            node.innerTransaction().executeWithoutResult(inner -> {
                node.semaphores().requireHeld(grant);
                assertThat(grant.release()).isEqualTo(ReleaseOutcome.DEFERRED);
            });
            assertThat(node.gate().count("update permit_request")).isZero();
        });

        awaitReleased();
    }

    @Test
    void releasesAtOnceWhenTheCheckedTransactionHasEnded() {
        PermitGrant grant = acquire();
        requireHeldInTransaction(grant);

        assertThat(grant.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(cluster.held(name)).isZero();
    }

    @Test
    void releasesAfterTheTransactionWhereTheWorkOfAnExecuteHasChecked() {
        node.transaction()
                .executeWithoutResult(status -> node.semaphores()
                        .executeWithoutResult(AcquireRequest.of(name), grant -> {
                            node.semaphores().requireHeld(grant);
                            doBusiness();
                        }));

        assertThat(businessDone()).isEqualTo(1);
        awaitReleased();
    }

    private void awaitReleased() {
        await().atMost(SOON)
                .pollInterval(20, TimeUnit.MILLISECONDS)
                .untilAsserted(() -> assertThat(cluster.held(name)).isZero());
    }
}
