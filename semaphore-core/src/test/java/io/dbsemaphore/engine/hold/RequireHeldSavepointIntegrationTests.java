package io.dbsemaphore.engine.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.rerun.Promise;
import java.time.Duration;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** A rollback to a savepoint, as that of a nested transaction: PostgreSQL and H2 give up the locks that were taken since. */
@Promise
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RequireHeldSavepointIntegrationTests extends RequireHeldFixture {

    @Test
    void commitsWhatIsStillHeld() {
        PermitGrant grant = acquire();

        node.transaction().executeWithoutResult(status -> {
            doBusiness();
            checkInANestedTransactionThatIsRolledBack(grant);
        });

        assertThat(businessDone()).isEqualTo(1);
        assertThat(grant.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(cluster.held(name)).isZero();
    }

    /** Either the permit cannot be taken before the commit, or there is no commit. */
    @Test
    void commitsNothingOfWhatIsTakenAwayAfterIt() throws Exception {
        PermitGrant grant = acquire();

        Future<ReleaseOutcome> taking = commitOrLose(grant, () -> {
            doBusiness();
            checkInANestedTransactionThatIsRolledBack(grant);
        });

        assertThat(Concurrently.get(taking)).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(cluster.held(name)).isZero();
    }

    @Test
    void commitsNothingOfWhatIsTakenAwayAfterARollbackToASavepoint() {
        PermitGrant grant = acquire();

        commitOrLose(
                grant,
                () -> node.transaction()
                        .executeWithoutResult(
                                status -> { // takes part in the outer one
                                    doBusiness();
                                    Object savepoint = status.createSavepoint();
                                    node.semaphores().requireHeld(grant);
                                    status.rollbackToSavepoint(savepoint);
                                }));

        await().until(() -> cluster.held(name) == 0);
    }

    private Future<ReleaseOutcome> commitOrLose(PermitGrant grant, Runnable work) {
        TransactionTemplate transaction = node.transaction();
        Taking taking = new Taking();
        Runnable commit = () -> transaction.executeWithoutResult(status -> {
            work.run();
            taking.begin(grant);
        });

        if (lockSurvives()) {
            commit.run();
            assertThat(businessDone()).isEqualTo(1);
            assertThat(taking.wasDoneBeforeTheCommit).isFalse();
        } else {
            assertThatExceptionOfType(PermitLostException.class)
                    .isThrownBy(commit::run)
                    .withMessageContaining(grant.externalId());
            assertThat(businessDone()).isZero();
            assertThat(taking.wasDoneBeforeTheCommit).isTrue();
        }
        return taking.release;
    }

    /** Another instance takes the permit away, which may wait for the lock. */
    private final class Taking {

        private Future<ReleaseOutcome> release;
        private boolean wasDoneBeforeTheCommit;

        void begin(PermitGrant grant) {
            release = Concurrently.async(() -> other.admin().forceRelease(grant.externalId(), "operator", "stuck"));
            if (lockSurvives()) {
                Concurrently.assertWaits(release);
            } else {
                await().atMost(Duration.ofSeconds(20)).until(release::isDone);
            }
            wasDoneBeforeTheCommit = release.isDone();
        }
    }

    private void checkInANestedTransactionThatIsRolledBack(PermitGrant grant) {
        TransactionTemplate nested = node.transaction();
        nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
        nested.executeWithoutResult(status -> {
            node.semaphores().requireHeld(grant);
            status.setRollbackOnly();
        });
    }

    private static boolean lockSurvives() {
        return switch (cluster.schema().kind()) {
            case MYSQL, MARIADB -> true;
            case POSTGRESQL, H2 -> false;
        };
    }
}
