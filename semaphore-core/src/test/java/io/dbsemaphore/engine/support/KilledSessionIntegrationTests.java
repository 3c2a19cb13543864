package io.dbsemaphore.engine.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import io.dbsemaphore.testing.node.Waits;
import io.dbsemaphore.testing.node.Wish;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A transaction whose session the server ends is tried again. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KilledSessionIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(10);
    private static final int ATTEMPTS = 3;

    /** Of {@code for update}, or on PostgreSQL {@code for no key update}. */
    private static final String LOCK = " for ";

    private static final String INSERT = "insert into permit_request";
    private static Schema schema;
    private static SemaphoreRows rows;
    private static Waits waits;
    private Node node;

    @BeforeAll
    static void start() {
        schema = TestDatabase.create().migrate();
        rows = new SemaphoreRows(schema);
        waits = new Waits(schema);
    }

    @AfterAll
    static void stop() {
        if (schema != null) {
            schema.close();
        }
    }

    @BeforeEach
    void startNode() {
        node = Node.on(schema, TestSettings.limits(1, 10, ATTEMPTS));
    }

    @AfterEach
    void stopNode() {
        node.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"from permit_request", LOCK, "sum(", "update semaphore", INSERT, "insert into permit("})
    void triesAgainWhenItsSessionIsKilled(String before) {
        AcquireRequest request = Wish.SEVERAL_NAMES_WITH_ID.on(node);
        Pause pause = node.gate().pauseBefore(before);

        PermitGrant grant = acquireWithKilledSession(request, pause);

        assertThat(grant.replayed()).isFalse();
        rows.assertHeldByOnly(grant);
    }

    @Test
    void triesAgainWhenItsSessionIsKilledBeforeTheCommit() {
        AcquireRequest request = Wish.SEVERAL_NAMES.on(node);
        Pause pause = node.gate().pauseBeforeCommitOf(INSERT);

        PermitGrant grant = acquireWithKilledSession(request, pause);

        assertThat(grant.replayed()).isFalse();
        rows.assertHeldByOnly(grant);
    }

    @Test
    void releasesWhenItsSessionIsKilled() {
        AcquireRequest request = Wish.SEVERAL_NAMES.on(node);
        PermitGrant grant = node.semaphores().acquire(request);
        Pause pause = node.gate().pauseBefore("update permit ");
        CompletableFuture<ReleaseOutcome> released = async(grant::release);
        pause.awaitReached(SOON);
        killLastConnection();
        pause.open();

        assertThat(join(released)).isEqualTo(ReleaseOutcome.RELEASED);
        rows.assertNothingHeld(request.permits().keySet());
    }

    private PermitGrant acquireWithKilledSession(AcquireRequest request, Pause pause) {
        CompletableFuture<PermitGrant> acquired = async(() -> node.semaphores().acquire(request));
        pause.awaitReached(SOON);
        killLastConnection();
        pause.open();
        return join(acquired);
    }

    private void killLastConnection() {
        boolean postgresql = schema.kind() == DatabaseKind.POSTGRESQL;
        String ask = postgresql ? "select pg_backend_pid()" : "select connection_id()";
        String session = node.connections().askLast(ask).get(0);
        schema.jdbc().execute((postgresql ? "select pg_terminate_backend(%s)" : "kill %s").formatted(session));
    }

    private static <T> CompletableFuture<T> async(Supplier<T> task) {
        return CompletableFuture.supplyAsync(task);
    }

    private static <T> T join(CompletableFuture<T> task) {
        return task.orTimeout(SOON.toSeconds(), TimeUnit.SECONDS).join();
    }
}
