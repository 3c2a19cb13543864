package io.dbsemaphore.engine;

import static io.dbsemaphore.testing.Concurrently.async;
import static io.dbsemaphore.testing.Concurrently.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.Wish;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A transaction whose session the server ends is tried again. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KilledSessionIntegrationTests extends RetryFixture {

    private final Node node = nodes.start(TestSettings.limits(1, 10, ATTEMPTS));

    @ParameterizedTest
    @ValueSource(strings = {"from permit_request", LOCK, "sum(", "update semaphore", INSERT, "insert into permit("})
    void triesAgainWhenItsSessionIsKilled(String before) throws Exception {
        AcquireRequest request = Wish.SEVERAL_NAMES_WITH_ID.on(node);
        Pause pause = node.gate().pauseBefore(before);

        assertGrantedAlthoughItsSessionIsKilled(request, pause);
    }

    @Test
    void triesAgainWhenItsSessionIsKilledBeforeTheCommit() throws Exception {
        AcquireRequest request = Wish.SEVERAL_NAMES.on(node);
        Pause pause = node.gate().pauseBeforeCommitOf(INSERT);

        assertGrantedAlthoughItsSessionIsKilled(request, pause);
    }

    @Test
    void releasesWhenItsSessionIsKilled() throws Exception {
        AcquireRequest request = Wish.SEVERAL_NAMES.on(node);
        PermitGrant grant = node.semaphores().acquire(request);
        Pause pause = node.gate().pauseBefore("update permit ");
        Future<ReleaseOutcome> released = async(grant::release);
        pause.awaitReached(SOON);
        killLastConnection();
        pause.open();

        assertThat(get(released, SOON)).isEqualTo(ReleaseOutcome.RELEASED);
        rows.assertNothingHeld(request.permits().keySet());
    }

    private void assertGrantedAlthoughItsSessionIsKilled(AcquireRequest request, Pause pause) throws Exception {
        Future<PermitGrant> acquired = async(() -> node.semaphores().acquire(request));
        pause.awaitReached(SOON);
        killLastConnection();
        pause.open();

        PermitGrant grant = get(acquired, SOON);

        assertThat(grant.isReplayed()).isFalse();
        rows.assertHeldByOnly(grant);
    }

    private void killLastConnection() {
        boolean postgresql = schema.kind() == DatabaseKind.POSTGRESQL;
        String ask = postgresql ? "select pg_backend_pid()" : "select connection_id()";
        String session = node.connections().askLast(ask).get(0);
        schema.jdbc().execute((postgresql ? "select pg_terminate_backend(%s)" : "kill %s").formatted(session));
    }
}
