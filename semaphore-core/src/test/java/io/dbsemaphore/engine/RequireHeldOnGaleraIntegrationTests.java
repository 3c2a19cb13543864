package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.testing.GaleraCluster;
import io.dbsemaphore.testing.StatementGate.Pause;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A business transaction on one node does not commit on a permit that was taken away on another, which knows nothing of
 * its locks: the later one of the two fails at its commit.
 */
class RequireHeldOnGaleraIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final AtomicInteger NAMES = new AtomicInteger();

    private static GaleraCluster galera;
    private static Node node;
    private static Node other;

    private final int business = NAMES.incrementAndGet();
    private final String name = "s" + business;

    @BeforeAll
    static void startCluster() {
        GaleraCluster.assumeInstalled();
        galera = GaleraCluster.start();
        galera.schema(0).jdbc().execute("create table business (id int primary key)");
        galera.awaitInSync();
        node = new Node(galera.schema(0).newPool(10));
        other = new Node(galera.schema(1).newPool(10));
    }

    @AfterAll
    static void stopCluster() {
        if (node != null) {
            node.close();
            other.close();
        }
        if (galera != null) {
            galera.close();
        }
    }

    @Test
    void doesNotCommitOnAPermitThatTheOtherNodeHasTakenAwayUnseen() throws Exception {
        PermitGrant grant = acquire();
        node.gate().clear();
        Future<Throwable> transaction;
        try (GaleraCluster.Brake brake = galera.holdBack(0)) {
            assertThat(other.admin().forceRelease(grant.externalId(), "operator", "stuck"))
                    .isEqualTo(ReleaseOutcome.RELEASED);
            transaction = Cluster.async(() -> catchThrowable(() -> doBusinessUnder(grant)));
            galera.awaitCommit(0);
        }

        assertThat(Cluster.get(transaction))
                .isNotNull()
                .satisfies(failure -> assertThat(SqlErrors.isConflict(failure))
                        .as("a conflict: %s", failure)
                        .isEqualTo(true));
        galera.awaitInSync();
        assertThat(businessDone(0)).isEqualTo(businessDone(1)).isZero();
        assertThatExceptionOfType(PermitLostException.class).isThrownBy(() -> doBusinessUnder(grant));
    }

    @Test
    void aForcedReleaseThatCommitsLaterIsDoneAgain() throws Exception {
        PermitGrant grant = acquire();
        other.gate().clear();
        Pause pause = other.gate().pauseBeforeCommitOf("update permit ");
        Future<ReleaseOutcome> forced =
                Cluster.async(() -> other.admin().forceRelease(grant.externalId(), "operator", "stuck"));
        pause.awaitReached(SOON);

        doBusinessUnder(grant);
        galera.awaitInSync();
        assertThat(businessDone(1)).isEqualTo(1);
        pause.open();

        assertThat(Cluster.get(forced)).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(other.gate().count("update permit ")).as("attempts").isEqualTo(2);
    }

    @Test
    void commitsOnAPermitThatIsHeld() {
        PermitGrant grant = acquire();

        doBusinessUnder(grant);
        galera.awaitInSync();

        assertThat(businessDone(1)).isEqualTo(1);
        assertThat(grant.isHeld()).isTrue();
        assertThat(grant.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThatExceptionOfType(PermitLostException.class).isThrownBy(() -> doBusinessUnder(grant));
    }

    private PermitGrant acquire() {
        node.admin().create(name, 1);
        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name));
        galera.awaitInSync();
        return grant;
    }

    private void doBusinessUnder(PermitGrant grant) {
        node.transaction().executeWithoutResult(status -> {
            node.semaphores().requireHeld(grant);
            node.jdbc().update("insert into business (id) values (?)", business);
        });
    }

    private int businessDone(int at) {
        JdbcTemplate jdbc = galera.schema(at).jdbc();
        return jdbc.queryForList("select id from business where id = ?", business)
                .size();
    }
}
