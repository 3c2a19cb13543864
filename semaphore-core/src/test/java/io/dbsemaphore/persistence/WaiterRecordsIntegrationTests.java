package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantBatch;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.line.Arrival;
import io.dbsemaphore.line.LineHead;
import io.dbsemaphore.line.OwnLines;
import io.dbsemaphore.line.Place;
import io.dbsemaphore.line.Places;
import io.dbsemaphore.line.Share;
import io.dbsemaphore.line.Waiter;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a transaction that refuses a caller tells other instances, while none of them has a caller that waits. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WaiterRecordsIntegrationTests {

    private static final OwnLines NOBODY = new OwnLines(() -> 1, "test", name -> true);
    private static final long HEAD_START = TimeUnit.MINUTES.toMicros(10);

    private final Schema schema = TestDatabase.create().migrate();
    private final HikariDataSource pool = schema.newPool(2);
    private OpenPersistence persistence;

    @BeforeEach
    void exhaust() throws Exception {
        persistence = OpenPersistence.on(pool);
        persistence.transactions().admin().create("backup", 1);
        assertThat(acquire()).isInstanceOf(GrantOutcome.Granted.class);
    }

    @AfterEach
    void close() {
        persistence.close();
        pool.close();
        schema.close();
    }

    /** One that comes to another instance may stand between the two. */
    @Test
    void isToldOfACallerThatStandsAheadOfThoseWhoWait() {
        OwnLines first = refused(0, NOBODY);
        OwnLines both = refused(HEAD_START, first);

        assertThat(both.of("backup").first()).extracting(Waiter::headStart).containsExactly(HEAD_START, 0L);
        assertThat(recorded()).isEqualTo(both.of("backup").first());
    }

    /** Without head starts, whoever comes to another instance stands behind those who are recorded. */
    @Measured
    @Test
    void isNotToldOfACallerThatStandsBehindThem() {
        schema.jdbc().update("delete from semaphore_waiter");
        OwnLines first = refused(0, NOBODY);
        OwnLines both = refused(0, first);

        assertThat(both.of("backup").size()).isEqualTo(2);
        List<Waiter> recorded = recorded();
        // a record that is half a second old is written anew, with all callers
        Measurement.check(
                () -> assertThat(recorded).isEqualTo(first.of("backup").first()));
    }

    @Test
    void isToldWhenTheCallerCame() {
        OwnLines line = refused(HEAD_START, NOBODY);

        LocalDateTime since = schema.jdbc().queryForObject("select since from semaphore_waiter", LocalDateTime.class);
        LocalDateTime until =
                schema.jdbc().queryForObject("select expires_at from semaphore_waiter", LocalDateTime.class);
        assertThat(Duration.between(since, until)).isLessThan(Duration.ofMinutes(1));
        assertThat(Place.micros(since)).isEqualTo(line.of("backup").since());
        assertThat(line.of("backup").first().get(0).place().at()).isEqualTo(Place.micros(since) - HEAD_START);
    }

    /** Others need the number also where it is more than those whose places they know. */
    @Test
    void isToldByAPollHowManyWaitWhereTheirNumberIsLimited() {
        LineHead line = refused(0, NOBODY).of("backup");
        OwnLines local = NOBODY.withMaxWaiting(name -> 9, name -> false)
                .with(Map.of("backup", new LineHead(line.first(), line.size() + 1)));

        persistence.transactions().availabilityTransactions().poll(Set.of("backup"), Set.of(), local);

        assertThat(schema.jdbc().queryForObject("select waiting from semaphore_waiter", Integer.class))
                .isEqualTo(2);
    }

    @Test
    void isNotToldOfACallerThatMayNotWait() {
        OwnLines full = NOBODY.withMaxWaiting(name -> 0, name -> false);
        AcquireState caller = new AcquireState(command());
        caller.setWillingToWait(true);

        GrantOutcome outcome = persistence
                .transactions()
                .batches()
                .grant(() -> new GrantBatch(List.of(caller), Set.of(), new TreeMap<>(), full))
                .outcomes()
                .get(0);

        assertThat(outcome)
                .isInstanceOfSatisfying(
                        GrantOutcome.Refused.class,
                        refused -> assertThat(refused.isByFullLine()).isEqualTo(true));
        assertThat(schema.jdbc().queryForObject("select count(*) from semaphore_waiter", Integer.class))
                .isZero();
    }

    /** Those of this instance who wait, as the database has recorded them if one is refused. */
    private OwnLines refused(long headStart, OwnLines before) {
        AcquireState caller = new AcquireState(command(), Arrival.unknown(System.nanoTime()), headStart, Share.NONE);
        caller.setWillingToWait(true);
        BatchResult result = persistence
                .transactions()
                .batches()
                .grant(() -> new GrantBatch(List.of(caller), Set.of(), new TreeMap<>(), before));
        assertThat(result.outcomes().get(0)).isInstanceOf(GrantOutcome.Refused.class);
        long now = Place.micros(result.availability().get("backup").readAt());
        caller.moveTo(caller.position().refused(new Places(now, result.answeredAt())));
        LineHead line = before.of("backup").with(List.of(caller.toWaiter("backup")));
        return NOBODY.with(Map.of("backup", line));
    }

    private List<Waiter> recorded() {
        return schema.jdbc()
                .queryForObject(
                        "select since, first_waiters, waiters from semaphore_waiter",
                        (row, number) -> WaiterCodec.decode(
                                row.getString(3),
                                row.getString(2),
                                Place.micros(row.getObject(1, LocalDateTime.class))));
    }

    private GrantOutcome acquire() {
        AcquireState acquire = new AcquireState(command());
        return persistence
                .transactions()
                .batches()
                .grant(() -> new GrantBatch(List.of(acquire), Set.of(), new TreeMap<>(), NOBODY))
                .outcomes()
                .get(0);
    }

    private static AcquireCommand command() {
        String id = UUID.randomUUID().toString();
        return new AcquireCommand(id, false, true, Map.of("backup", 1), false, null, "test", null, null);
    }
}
