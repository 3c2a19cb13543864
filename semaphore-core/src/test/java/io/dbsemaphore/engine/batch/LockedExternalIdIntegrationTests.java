package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.RequestAlreadyReleasedException;
import io.dbsemaphore.RequestConflictException;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.RowLock;
import io.dbsemaphore.testing.node.Waits;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.CannotAcquireLockException;

/** An external id that another transaction has inserted and has not committed delays its own caller only. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
class LockedExternalIdIntegrationTests {

    private static final Duration DEADLINE = Duration.ofSeconds(30);
    private static final Duration WAIT_TIME = Duration.ofSeconds(45);
    /** A statement of a batch waits for a second: whoever waits for its locks takes as long. */
    private static final Duration FREE = Duration.ofMillis(700);

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    /** Below all generated ids: in MySQL's index, the wait for it also locks the gap before it. */
    private String externalId = newExternalId();

    private final String name = cluster.semaphore(100);
    private Node node;

    @BeforeEach
    void start() {
        node = Node.on(cluster.schema(), TestSettings.limits(30, 40, 3));
    }

    private static String newExternalId() {
        return "!" + cluster.externalId();
    }

    @AfterEach
    void stop() {
        node.close();
    }

    @Measured
    @Test
    void delaysNoOtherCallerForLong() throws Exception {
        externalId = newExternalId();
        String other = cluster.semaphore(100);
        List<Duration> pairs = new ArrayList<>();
        try (RowLock outsider = insertExternalId()) {
            Future<PermitGrant> blocked = acquireWithExternalId();
            Concurrently.assertWaits(blocked);
            List<Callable<Duration>> others = IntStream.range(0, 7)
                    .mapToObj(index ->
                            (Callable<Duration>) () -> pair(node, AcquireRequest.of(index < 4 ? name : other)))
                    .toList();

            for (int i = 0; i < 5; i++) {
                pairs.addAll(Concurrently.call(DEADLINE, others));
            }

            Concurrently.assertWaits(blocked);
            outsider.rollBack();
            try (PermitGrant grant = Concurrently.get(blocked)) {
                assertThat(grant.isHeld()).as("held").isTrue();
            }
        }
        assertThat(cluster.held(name)).isZero();
        checkMedian(pairs);
    }

    /** On InnoDB, an insert that waits for a duplicate blocks those of all ids between it and the id before. */
    @Slow
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB})
    @Measured
    @Test
    void delaysNoExternalIdThatSortsNextToIt() throws Exception {
        externalId = newExternalId();
        List<Duration> pairs = new ArrayList<>();
        try (RowLock outsider = insertExternalId()) {
            Future<PermitGrant> blocked = acquireWithExternalId();
            Concurrently.assertWaits(blocked);
            Node another = cluster.node(0);
            String other = cluster.semaphore(100);

            for (int i = 0; i < 5; i++) {
                new Waits(cluster.schema()).await("where external_id = ");
                pairs.add(pair(another, AcquireRequest.of(other).withExternalId("!" + i + externalId)));
            }

            Concurrently.assertWaits(blocked);
            outsider.rollBack();
            Concurrently.get(blocked).release();
        }
        checkMedian(pairs);
    }

    @Measured
    @Test
    void delaysNoOtherInstanceForLong() throws Exception {
        externalId = newExternalId();
        List<Duration> pairs = new ArrayList<>();
        try (RowLock outsider = insertExternalId()) {
            Future<PermitGrant> blocked = acquireWithExternalId();
            Concurrently.assertWaits(blocked);
            Node another = cluster.node(0);

            for (int i = 0; i < 15; i++) {
                pairs.add(pair(another, AcquireRequest.of(name)));
            }

            Concurrently.assertWaits(blocked);
            outsider.rollBack();
            Concurrently.get(blocked).release();
        }
        checkMedian(pairs);
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

    /** Whether the decision timeout ends before the lock wait or after it. */
    @Slow
    @ParameterizedTest
    @ValueSource(ints = {3, 6})
    void aCallerWithoutAWaitTimeIsToldWhatItHasWaitedFor(int decisionTimeout) throws Exception {
        SemaphoreSettings settings = TestSettings.limits(4, 10, 3)
                .with(SemaphoreSettings.DECISION_TIMEOUT, Duration.ofSeconds(decisionTimeout));
        try (Node impatient = Node.on(cluster.schema(), settings)) {
            impatient.semaphores().acquire(AcquireRequest.of(name)).release(); // the first one takes longer
            try (RowLock outsider = insertExternalId()) {
                assertThatThrownBy(() -> impatient
                                .semaphores()
                                .acquire(AcquireRequest.of(name).withExternalId(externalId)))
                        .isInstanceOf(CannotAcquireLockException.class)
                        .hasMessageContaining(externalId);
            }
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

    private static Duration pair(Node node, AcquireRequest request) {
        long begun = System.nanoTime();
        node.semaphores().acquire(request.withWaitTime(WAIT_TIME)).release();
        return Duration.ofNanos(System.nanoTime() - begun);
    }

    private static void checkMedian(List<Duration> pairs) {
        Measurement.check(
                () -> assertThat(median(pairs)).as("median of " + pairs).isLessThan(FREE));
    }

    private static Duration median(List<Duration> durations) {
        return durations.stream().sorted().toList().get(durations.size() / 2);
    }
}
