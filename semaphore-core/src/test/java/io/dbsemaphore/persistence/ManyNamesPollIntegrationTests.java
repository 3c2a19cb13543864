package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.line.OwnLines;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Callers of one instance wait for permits of thousands of semaphores, such as those of a pattern. */
@Slow
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ManyNamesPollIntegrationTests {

    private static final int SOME = 200;
    private static final int MANY = 4_000;
    private static final OwnLines QUEUES = new OwnLines(() -> 0, "test", name -> false);

    private final Schema schema = TestDatabase.create().migrate();
    private final HikariDataSource pool = schema.newPool(3);
    private OpenPersistence persistence;

    @BeforeEach
    void createSemaphores() throws SQLException {
        persistence = OpenPersistence.on(pool);
        schema.jdbc().update("""
                insert into semaphore (id, name, capacity, fence, created_at, updated_at)
                with recursive numbers(n) as (select 0 union all select n + 1 from numbers where n < 99)
                select 1 + a.n * 100 + b.n, concat('tenant:', a.n * 100 + b.n), 3, 0, now(), now()
                from numbers a, numbers b where a.n < 40""");
        schema.jdbc().update("""
                insert into permit_request (id, external_id, owner, state, content_digest, renewed_at, created_at, updated_at)
                values (1, 'held', 'test', 'ACQUIRED', 'none', now(), now(), now())""");
        schema.jdbc().update("""
                insert into permit (id, semaphore_id, permit_request_id, count, exclusive, state, token)
                select s.id, s.id, 1, 2, 0, 'ACQUIRED', 0 from semaphore s where s.id > 1 and s.capacity > 0""");
    }

    @AfterEach
    void close() throws SQLException {
        persistence.close();
        pool.close();
        schema.close();
    }

    /** With a condition for each name in one statement, MySQL takes seconds for thousands. Meanwhile the records of waiting callers expire. */
    @Measured
    @Test
    void takesEachAsLongAsFewDo() {
        long some = Long.MAX_VALUE;
        long many = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) { // in turn, and the best of each: other load comes and goes
            some = Math.min(some, duration(SOME));
            many = Math.min(many, duration(MANY));
        }

        long best = many;
        long bound = some * (MANY / SOME) * 5 / 4;
        Measurement.check(() -> assertThat(best).isLessThan(bound));
    }

    private long duration(int count) {
        List<String> names = names(count);
        long begin = System.nanoTime();
        checkPoll(names);
        return System.nanoTime() - begin;
    }

    private static List<String> names(int count) {
        return IntStream.range(0, count).mapToObj(i -> "tenant:" + i).toList();
    }

    private void checkPoll(List<String> names) {
        Map<String, RemainingAvailability> polled =
                persistence.transactions().availabilityTransactions().poll(names, Set.of(), QUEUES);

        assertThat(polled).hasSameSizeAs(names);
        names.forEach(
                name -> assertThat(polled.get(name).available()).as(name).isEqualTo("tenant:0".equals(name) ? 3 : 1));
    }
}
