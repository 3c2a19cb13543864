package io.dbsemaphore.maintenance;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * What the bounded reports cost where one semaphore has many requests: MySQL's own plan and row counts of each statement that
 * was sent. The number of requests is set by {@code -Dsemaphore.test.requests=10000000}, for example.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ReportCostIntegrationTests {

    private static final long REQUESTS = Long.getLong("semaphore.test.requests", 100_000);
    private static final int SECONDS = 7 * 24 * 3600;

    @RegisterExtension
    static final Instances instances = new Instances(Instances.inBatchesOf(800));

    private String name;

    @BeforeAll
    void fill() {
        TestDatabase.assumeKind(DatabaseKind.MYSQL);
        name = instances.semaphore(100);
        JdbcTemplate jdbc = instances.jdbc();
        jdbc.execute("create table digit (d bigint primary key)");
        jdbc.execute("insert into digit values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)");
        long id = jdbc.queryForObject("select id from semaphore where name = ?", Long.class, name);
        for (long from = 0; from < REQUESTS; from += 100_000) {
            String numbers =
                    "(select %d + a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d as n".formatted(from + 1)
                            + " from digit a, digit b, digit c, digit e, digit f) numbers";
            String acquired =
                    "utc_timestamp(6) - interval floor(%d * (1 - n / %d)) second".formatted(SECONDS, REQUESTS);
            jdbc.execute("insert into permit_request (id, external_id, owner, state, content_digest, renewed_at,"
                    + " created_at, updated_at) select n, concat('request-', n), concat('owner-', n % 50),"
                    + " if(n > %d - 100, 'ACQUIRED', 'RELEASED'), 'x', %s, %s, %s + interval 1 second from "
                            .formatted(REQUESTS, acquired, acquired, acquired)
                    + numbers);
            jdbc.execute("insert into permit (id, semaphore_id, permit_request_id, count, exclusive, state, token)"
                    + " select n, %d, n, 1, 0, if(n > %d - 100, 'ACQUIRED', 'RELEASED'), n from "
                            .formatted(id, REQUESTS)
                    + numbers);
        }
        jdbc.execute("drop table digit");
        jdbc.execute("analyze table permit, permit_request");
        jdbc.update("update semaphore set fence = ? where id = ?", REQUESTS, id);
    }

    @Measured
    @Slow
    @Test
    void readsFewRowsHoweverManyRequestsThereAre() {
        SemaphoreAdmin admin = instances.first().admin();
        Instant now = admin.now();
        for (int i = 0; i < 10; i++) {
            views(admin, now); // until the code is compiled and the pages are cached
        }
        instances.jdbc().execute("truncate table performance_schema.events_statements_summary_by_digest");

        Map<String, Duration> took = views(admin, now);

        assertThat(admin.requests(name, now.minus(Duration.ofHours(73)), now.minus(Duration.ofHours(72)), 500))
                .as("requests of an hour that ended before many others began")
                .hasSize(500);
        List<Map<String, Object>> statements =
                instances.jdbc().queryForList("""
                select digest_text as text, query_sample_text as sample, max_rows_read as examined
                from (select digest_text, query_sample_text, sum_rows_examined / count_star as max_rows_read
                      from performance_schema.events_statements_summary_by_digest
                      where schema_name = ? and digest_text like 'SELECT %' and digest_text like '%permit%') statements""", instances.schema().name());
        assertThat(statements).hasSizeGreaterThanOrEqualTo(5).allSatisfy(statement -> {
            assertThat(((Number) statement.get("examined")).longValue())
                    .as("rows examined by %s", statement.get("text"))
                    .isLessThanOrEqualTo(10_000);
            assertThat(plan((String) statement.get("sample")))
                    .as("plan of %s", statement.get("text"))
                    .doesNotContain("ALL permit", "ALL p1_0", "ALL pr1_0");
        });
        Measurement.check(() -> assertThat(took)
                .as("at %,d requests", REQUESTS)
                .allSatisfy((view, each) -> assertThat(each).isLessThan(Duration.ofSeconds(2))));
    }

    private Map<String, Duration> views(SemaphoreAdmin admin, Instant now) {
        return Map.ofEntries(
                Map.entry("overview", timed(admin::list)),
                Map.entry("since", timed(() -> admin.since("", "", 1000))),
                Map.entry("granted", timed(() -> admin.granted(Duration.ofMinutes(1)))),
                Map.entry("semaphore", timed(() -> admin.find(name))),
                Map.entry("holders", timed(() -> admin.holders(name, "", 0, 100))),
                Map.entry("search", timed(() -> admin.holders(name, "owner-7", 0, 100))),
                Map.entry("instances", timed(admin::instances)),
                Map.entry("last hour", timed(() -> admin.requests(name, now.minusSeconds(3600), now, 500))),
                Map.entry(
                        "an hour three days ago",
                        timed(() -> admin.requests(
                                name, now.minus(Duration.ofHours(73)), now.minus(Duration.ofHours(72)), 500))),
                Map.entry("a week", timed(() -> admin.requests(name, now.minus(Duration.ofDays(7)), now, 500))));
    }

    private static Duration timed(Runnable view) {
        long begun = System.nanoTime();
        view.run();
        return Duration.ofNanos(System.nanoTime() - begun);
    }

    /** The access type and table of each step: {@code ref permit, eq_ref permit_request}. */
    private static String plan(String statement) {
        List<String> steps = new ArrayList<>();
        instances
                .jdbc()
                .queryForList("explain format=traditional " + statement)
                .forEach(step -> steps.add(step.get("type") + " " + step.get("table")));
        return String.join(", ", steps);
    }
}
