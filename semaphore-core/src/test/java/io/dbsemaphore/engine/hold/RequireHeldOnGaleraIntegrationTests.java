package io.dbsemaphore.engine.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.testing.Clustered;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.cluster.GaleraCluster;
import io.dbsemaphore.testing.cluster.MultiPrimary;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.PrimaryNodes;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A business transaction on one node does not commit on a permit that was taken away on another, which knows nothing of
 * its locks: the later one of the two fails at its commit.
 */
@Clustered
class RequireHeldOnGaleraIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final AtomicInteger NAMES = new AtomicInteger();

    @RegisterExtension
    private static final PrimaryNodes<GaleraCluster> GALERA = PrimaryNodes.onGalera();

    private Node node;
    private Node other;

    private final int business = NAMES.incrementAndGet();
    private final String name = "s" + business;

    @BeforeAll
    static void createTable() {
        GALERA.servers().schema(0).jdbc().execute("create table business (id int primary key)");
        GALERA.servers().awaitInSync();
    }

    @BeforeEach
    void startNodes() {
        List<Node> nodes = GALERA.start();
        node = nodes.get(0);
        other = nodes.get(1);
    }

    @Test
    void doesNotCommitOnAPermitThatTheOtherNodeHasTakenAwayUnseen() throws Exception {
        PermitGrant grant = acquire();
        node.gate().clear();
        Future<Throwable> transaction;
        try (MultiPrimary.Brake brake = GALERA.servers().holdBack(0)) {
            assertThat(other.admin().forceRelease(grant.externalId(), "operator", "stuck"))
                    .isEqualTo(ReleaseOutcome.RELEASED);
            transaction = Concurrently.async(() -> catchThrowable(() -> doBusinessUnder(grant)));
            GALERA.servers().awaitCommit(0);
        }

        assertThat(Concurrently.get(transaction))
                .isNotNull()
                .satisfies(failure -> assertThat(SqlErrors.isConflict(failure))
                        .as("a conflict: %s", failure)
                        .isEqualTo(true));
        GALERA.servers().awaitInSync();
        assertThat(businessDone(0)).isEqualTo(businessDone(1)).isZero();
        assertThatExceptionOfType(PermitLostException.class).isThrownBy(() -> doBusinessUnder(grant));
    }

    @Test
    void aForcedReleaseThatCommitsLaterIsDoneAgain() throws Exception {
        PermitGrant grant = acquire();
        other.gate().clear();
        Pause pause = other.gate().pauseBeforeCommitOf("update permit ");
        Future<ReleaseOutcome> forced =
                Concurrently.async(() -> other.admin().forceRelease(grant.externalId(), "operator", "stuck"));
        pause.awaitReached(SOON);

        doBusinessUnder(grant);
        GALERA.servers().awaitInSync();
        assertThat(businessDone(1)).isEqualTo(1);
        pause.open();

        assertThat(Concurrently.get(forced)).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(other.gate().count("update permit ")).as("attempts").isEqualTo(2);
    }

    @Test
    void commitsOnAPermitThatIsHeld() {
        PermitGrant grant = acquire();

        doBusinessUnder(grant);
        GALERA.servers().awaitInSync();

        assertThat(businessDone(1)).isEqualTo(1);
        assertThat(grant.isHeld()).isTrue();
        assertThat(grant.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThatExceptionOfType(PermitLostException.class).isThrownBy(() -> doBusinessUnder(grant));
    }

    private PermitGrant acquire() {
        node.admin().create(name, 1);
        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name));
        GALERA.servers().awaitInSync();
        return grant;
    }

    private void doBusinessUnder(PermitGrant grant) {
        node.transaction().executeWithoutResult(status -> {
            node.semaphores().requireHeld(grant);
            node.jdbc().update("insert into business (id) values (?)", business);
        });
    }

    private int businessDone(int at) {
        JdbcTemplate jdbc = GALERA.servers().schema(at).jdbc();
        return jdbc.queryForList("select id from business where id = ?", business)
                .size();
    }
}
