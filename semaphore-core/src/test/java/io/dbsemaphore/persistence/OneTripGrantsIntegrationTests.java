package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantBatch;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.DatabaseThreads;
import io.dbsemaphore.jdbc.Sessions;
import io.dbsemaphore.line.OwnLines;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.RowLock;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

/** Grants in one round trip of batches that meet locks, releases and failures. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.POSTGRESQL}) // where the driver sends several statements at once
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@DisabledIfSystemProperty(
        named = TestSettings.PIPELINING,
        matches = "false",
        disabledReason = "about several statements at once")
class OneTripGrantsIntegrationTests {

    private static final SortedMap<Long, List<Long>> NO_RELEASES = new TreeMap<>();

    private final Schema schema = TestDatabase.create().migrate();
    private StatementGate pool;
    private Sessions connections;
    private SemaphorePersistence persistence;

    @BeforeEach
    void open() throws SQLException {
        Duration limit = Duration.ofSeconds(1);
        Database database = Database.of(schema.newPool(1));
        pool = new StatementGate(schema.newPool(2));
        connections = new Sessions(
                pool, database, limit, limit.multipliedBy(10), 2, true, new DatabaseThreads(2, new DaemonThreads()));
        persistence = SemaphorePersistence.open(connections, database, "", limit, Duration.ZERO, null);
        persistence.admin().create("a", 2);
        persistence.admin().create("b", 1);
    }

    @AfterEach
    void close() {
        persistence.unit().close();
        connections.close();
        pool.close();
        schema.close();
    }

    @Measured
    @Test
    void aBatchIsGrantedAsAWholeOrNotAtAll() {
        String name = semaphore(2);
        grantAndRelease(name);

        assertUndecided(grant(Set.of(), NO_RELEASES, acquire(name), acquire(name), acquire(name)));
        assertThat(held(name)).isZero();
        forgetRefusal(name);
        List<Long> tokens = grant(Set.of(name), NO_RELEASES, acquire(name), acquire(name)).outcomes().stream()
                .map(each -> granted(each).permits().get(0).token())
                .toList();

        assertThat(tokens.get(1)).isEqualTo(tokens.get(0) + 1);
        assertThat(new SemaphoreRows(schema).fence(name)).isEqualTo(tokens.get(1));
        assertThat(held(name)).isEqualTo(2);
    }

    @Measured
    @Test
    void countsWhoseSumIsNotAnIntExceedTheCapacity() {
        String name = semaphore(2);
        grantAndRelease(name);

        BatchResult result =
                grant(Set.of(name), NO_RELEASES, acquire(name, Integer.MAX_VALUE), acquire(name, Integer.MAX_VALUE));

        assertThat(held(name)).isZero();
        assertUndecided(result);
    }

    /** As on a replica that was promoted without the last grants: there, other instances get the same tokens. */
    @Measured
    @Test
    void nothingIsGrantedBelowAFenceThatWasReadBefore() {
        String name = semaphore(2);
        grantAndRelease(name);
        schema.jdbc().update("update semaphore set fence = fence - 1 where name = ?", name);

        assertUndecided(grant(Set.of(name), NO_RELEASES, acquire(name)));
    }

    @Test
    void whatWasReadLongAgoIsReadAgain() throws InterruptedException {
        grantAndRelease("a");
        Thread.sleep(1_100);

        assertThat(grant(Set.of("a"), NO_RELEASES, acquire("a"), acquire("a"), acquire("a"))
                        .outcomes())
                .as("decided one by one, in two round trips")
                .hasAtLeastOneElementOfType(GrantOutcome.Granted.class)
                .hasAtLeastOneElementOfType(GrantOutcome.Refused.class);
    }

    /** It is decided in the same call: otherwise the batch would count as failed. */
    @Test
    void aLockedRowPostponesTheAcquireAndNotTheReleasesOfItsBatch() throws SQLException {
        grantAndRelease("a");
        StoredGrant released = grantedIn("b");
        BatchResult result;
        try (RowLock lock = RowLock.ofSemaphore(schema, "a")) {
            result = grant(Set.of(), releaseOf(released), acquire("a"));
        }

        assertThat(result.outcomes()).containsExactly(new GrantOutcome.Postponed("a"));
        assertThat(result.released()).containsOnlyKeys(released.requestId());
        assertThat(held("b")).isZero();
    }

    /** MySQL rolls back the statement that has waited for too long only; the transaction has the release. */
    @Measured
    @Test
    void aTextThatHasWaitedForALockInVainReleasesNothing() throws SQLException {
        String name = semaphore(2);
        String other = semaphore(1);
        StoredGrant held = grantedIn(other);
        AcquireState acquire = acquire(name);
        try (RowLock lock = RowLock.begin(schema)) {
            grantAndRelease(name);
            lock.lockSemaphore(name);
            Measurement.check(() -> assertThatThrownBy(() -> grant(Set.of(name), releaseOf(held), acquire))
                    .isInstanceOf(RuntimeException.class));
        }

        assertThat(held(other)).isEqualTo(1);
        assertThat(acquire.withdraw()).as("nothing was written for it").isTrue();
        assertThat(acquire.mayExist()).isFalse();
    }

    @Measured
    @Test
    void aRefusedTextReleases() {
        String name = semaphore(2);
        String other = semaphore(1);
        StoredGrant released = grantedIn(other);
        grantAndRelease(name);
        grantedIn(name);
        grantedIn(name);
        AcquireState acquire = acquire(name);

        BatchResult result = grant(Set.of(name), releaseOf(released), acquire);

        assertThat(result.released()).containsOnlyKeys(released.requestId());
        assertThat(held(other)).isZero();
        assertThat(acquire.mayExist()).as("the next attempt looks for no row").isFalse();
        assertUndecided(result);
    }

    /** It had taken an expired permit away, so that no token up to the fence was held. */
    @Measured
    @Test
    void whatARolledBackTransactionFoundIsNotRemembered() {
        String name = semaphore(1);
        grantAndRelease(name);
        StoredGrant holder = grantedIn(name);
        grantAndRelease("a");
        expire(holder, "created_at");
        pool.failBefore("insert into permit_request", new SQLException("deadlock", "40001", 1213));
        assertThatThrownBy(() -> grant(Set.of(name), NO_RELEASES, acquire(name, "given")))
                .isInstanceOf(RuntimeException.class);
        expire(holder, "'2222-02-02 00:00:00'"); // its keep-alive has been answered meanwhile

        BatchResult result = grant(Set.of(name), NO_RELEASES, acquire(name));

        assertThat(held(name)).isEqualTo(1);
        assertUndecided(result);
    }

    private void expire(StoredGrant grant, String at) {
        schema.jdbc().update("update permit_request set expires_at = " + at + " where id = ?", grant.requestId());
    }

    /** A new semaphore for each measurement. */
    private String semaphore(int capacity) {
        String name = SemaphoreRows.name("s");
        persistence.admin().create(name, capacity);
        return name;
    }

    /** It was tried in one round trip. If the row was read more than a second ago, two round trips decide at once. */
    private static void assertUndecided(BatchResult result) {
        Measurement.check(() -> assertThat(result.outcomes()).hasOnlyElementsOfType(GrantOutcome.Undecided.class));
    }

    /** Decides batches until the next one will be tried in one round trip again. */
    private void forgetRefusal(String name) {
        for (int i = 0; i < OneTripGrants.SKIPPED; i++) {
            grantAndRelease(name);
        }
    }

    private void grantAndRelease(String name) {
        persistence.batches().release(releaseOf(grantedIn(name)), false, false);
    }

    private StoredGrant grantedIn(String name) {
        for (int i = 0; i < 20; i++) {
            if (grant(Set.of(name), NO_RELEASES, acquire(name)).outcomes().get(0)
                    instanceof GrantOutcome.Granted granted) {
                return granted.grant();
            }
        }
        throw new AssertionError("'%s' was not granted".formatted(name));
    }

    private int held(String name) {
        return schema.jdbc()
                .queryForObject(
                        "select count(*) from permit where state = 'ACQUIRED' and semaphore_id ="
                                + " (select id from semaphore where name = ?)",
                        Integer.class,
                        name);
    }

    private BatchResult grant(Set<String> awaited, SortedMap<Long, List<Long>> releases, AcquireState... acquires) {
        OwnLines queues = new OwnLines(() -> 0, "test", name -> false);
        return persistence.batches().grant(() -> new GrantBatch(Arrays.asList(acquires), awaited, releases, queues));
    }

    private static AcquireState acquire(String name) {
        return acquire(name, 1, null);
    }

    private static AcquireState acquire(String name, int count) {
        return acquire(name, count, null);
    }

    private static AcquireState acquire(String name, String externalId) {
        return acquire(name, 1, externalId);
    }

    private static AcquireState acquire(String name, int count, String externalId) {
        return new AcquireState(new AcquireCommand(
                externalId == null ? UUID.randomUUID().toString() : externalId,
                externalId != null,
                true,
                Map.of(name, count),
                false,
                Duration.ofMinutes(5),
                "test",
                null,
                null));
    }

    private static StoredGrant granted(GrantOutcome outcome) {
        return ((GrantOutcome.Granted) outcome).grant();
    }

    private static SortedMap<Long, List<Long>> releaseOf(StoredGrant grant) {
        return new TreeMap<>(Map.of(
                grant.requestId(),
                grant.permits().stream().map(StoredPermit::id).toList()));
    }
}
