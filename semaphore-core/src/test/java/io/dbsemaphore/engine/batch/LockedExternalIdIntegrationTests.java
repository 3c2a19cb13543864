package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.RequestAlreadyReleasedException;
import io.dbsemaphore.RequestConflictException;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.RowLock;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.dao.CannotAcquireLockException;

/** An external id that another transaction has inserted and has not committed delays its own caller only. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
class LockedExternalIdIntegrationTests {

    private static final Duration DEADLINE = Duration.ofSeconds(30);
    private static final Duration WAIT_TIME = Duration.ofSeconds(45);
    /** A statement of a batch waits for a second; without that limit, callers would wait for the lock wait of 30 s. */
    private static final Duration BOUND = Duration.ofSeconds(12);

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    /** Below all generated ids: in MySQL's index, the wait for it also locks the gap before it. */
    private final String externalId = "!" + cluster.externalId();

    private final String name = cluster.semaphore(100);
    private Node node;

    @BeforeEach
    void start() {
        node = Node.on(cluster.schema(), TestSettings.limits(30, 40, 3));
    }

    @AfterEach
    void stop() {
        node.close();
    }

    @Test
    void delaysNoOtherCallerForLong() throws Exception {
        String other = cluster.semaphore(100);
        try (RowLock outsider = insertExternalId()) {
            Future<PermitGrant> blocked = acquireWithExternalId();
            Concurrently.assertWaits(blocked);
            List<Callable<Duration>> others = IntStream.range(0, 7)
                    .mapToObj(index -> (Callable<Duration>) () -> pair(index < 4 ? name : other))
                    .toList();

            for (int i = 0; i < 3; i++) {
                Duration longest = Collections.max(Concurrently.call(DEADLINE, others));

                assertThat(longest).as("the longest pair of round " + i).isLessThan(BOUND);
            }

            Concurrently.assertWaits(blocked);
            outsider.rollBack();
            try (PermitGrant grant = Concurrently.get(blocked)) {
                assertThat(grant.isHeld()).as("held").isTrue();
            }
        }
        assertThat(cluster.held(name)).isZero();
    }

    @Test
    void delaysNoOtherInstanceForLong() throws Exception {
        try (RowLock outsider = insertExternalId()) {
            Future<PermitGrant> blocked = acquireWithExternalId();
            Concurrently.assertWaits(blocked);
            Node another = cluster.node(0);
            long begun = System.nanoTime();

            for (int i = 0; i < 20; i++) {
                another.semaphores()
                        .acquire(AcquireRequest.of(name).withWaitTime(WAIT_TIME))
                        .release();
            }

            assertThat(Duration.ofNanos(System.nanoTime() - begun))
                    .as("20 pairs of another instance")
                    .isLessThan(BOUND);
            Concurrently.assertWaits(blocked);
            outsider.rollBack();
            Concurrently.get(blocked).release();
        }
    }

    @Test
    void isRejectedAsSoonAsTheOtherTransactionHasCommitted() throws Exception {
        try (RowLock outsider = insertExternalId()) {
            Future<PermitGrant> blocked = acquireWithExternalId();
            Concurrently.assertWaits(blocked);

            outsider.commit();

            assertThatThrownBy(() -> Concurrently.get(blocked))
                    .cause()
                    .isInstanceOfAny(RequestAlreadyReleasedException.class, RequestConflictException.class);
        }
        assertThat(cluster.held(name)).isZero();
    }

    @Test
    void aCallerWithoutAWaitTimeIsToldAfterTheLockWait() throws Exception {
        try (Node impatient = Node.on(cluster.schema(), TestSettings.limits(2, 10, 3));
                RowLock outsider = insertExternalId()) {
            assertThatThrownBy(() -> impatient
                            .semaphores()
                            .acquire(AcquireRequest.of(name).withExternalId(externalId)))
                    .isInstanceOf(CannotAcquireLockException.class)
                    .hasMessageContaining(externalId);
        }
        assertThat(cluster.held(name)).isZero();
    }

    /** Inserts a request with the external id, as an instance does that froze before its commit. */
    private RowLock insertExternalId() throws SQLException {
        PermitGrant template = node.semaphores().acquire(AcquireRequest.of(name));
        template.release();
        return RowLock.begin(cluster.schema()).execute("""
                insert into permit_request(id, external_id, owner, state, content_digest, renewed_at, created_at, updated_at)
                select -id, ?, owner, state, content_digest, renewed_at, created_at, updated_at
                from permit_request where external_id = ?""", externalId, template.externalId());
    }

    private Future<PermitGrant> acquireWithExternalId() {
        return Concurrently.async(() -> node.semaphores()
                .acquire(AcquireRequest.of(name).withExternalId(externalId).withWaitTime(WAIT_TIME)));
    }

    private Duration pair(String semaphore) {
        long begun = System.nanoTime();
        node.semaphores()
                .acquire(AcquireRequest.of(semaphore).withWaitTime(WAIT_TIME))
                .release();
        return Duration.ofNanos(System.nanoTime() - begun);
    }
}
