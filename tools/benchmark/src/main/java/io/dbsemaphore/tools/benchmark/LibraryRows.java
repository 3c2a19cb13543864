package io.dbsemaphore.tools.benchmark;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.tools.benchmark.approach.DbSemaphoreLimiter;
import io.dbsemaphore.tools.benchmark.approach.Target;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The rows that are in the library's tables before a case is measured: one request by the library itself, the others as
 * copies of it and its permit by {@code INSERT ... SELECT}, whatever their columns. The ids of the copies are spread over
 * the week before the original, like those of a real history. Their tokens follow the original's, and the semaphore's
 * fence is raised above them.
 */
final class LibraryRows implements AutoCloseable {

    private static final int ROWS_PER_STATEMENT = 100_000;
    private static final long IDS_OF_A_WEEK = 604_800_000L << 22;

    private final HikariDataSource pool;
    private final JdbcTemplate jdbc;
    private final String prefix;
    private final long semaphore;
    private final long original;
    private AutoCloseable snapshot = () -> {};

    private LibraryRows(Target target, String prefix, String externalId) {
        this.pool = target.pool("rows", 3);
        this.jdbc = new JdbcTemplate(pool);
        this.prefix = prefix;
        original = id("select id from %spermit_request where external_id = ?", externalId);
        semaphore = id("select semaphore_id from %spermit where permit_request_id = ?", original);
    }

    /** Creates the rows of this case, on a semaphore that nothing uses meanwhile. To be closed after the measurement. */
    static AutoCloseable create(Target target, Case filled, DbSemaphoreLimiter library, long number) throws Exception {
        if (filled.rows() == 0) {
            return () -> {};
        }
        PermitGrant grant = library.acquireWithoutTtl(number);
        LibraryRows rows = new LibraryRows(target, filled.tablePrefix(), grant.externalId());
        if (filled.scenario() == Scenario.HISTORY) {
            grant.release();
        }
        rows.copy(filled.rows() - 1);
        if (filled.scenario() == Scenario.SNAPSHOT) {
            rows.snapshot = Server.openSnapshot(rows.pool);
            rows.releaseCopies();
            grant.release();
        }
        return rows;
    }

    @Override
    public void close() throws Exception {
        snapshot.close();
        pool.close();
    }

    /** Each statement doubles the number of requests or permits. */
    private void copy(int count) {
        long step = Math.min(IDS_OF_A_WEEK, original / 2) / (count + 1) | 1;
        int rows;
        for (int copied = 0; copied < count; copied += rows) {
            rows = IntStream.of(copied + 1, count - copied, ROWS_PER_STATEMENT)
                    .min()
                    .orElseThrow();
            long distance = (copied + 1) * step;
            String sources = "between %d and %d".formatted(original - (rows - 1) * step, original);
            // About as random and as long as real external ids
            String copiedExternalId =
                    "concat(mod(mod(t.id - %1$d, 1000003) * 2654435761, 4294967296), '-copy-', t.id - %1$d)";
            insert(
                    "permit_request",
                    "id",
                    Map.of("id", "t.id - " + distance, "external_id", copiedExternalId.formatted(distance)),
                    "t.id %s and t.id in (select permit_request_id from %spermit where semaphore_id = %d)"
                            .formatted(sources, prefix, semaphore));
            insert(
                    "permit",
                    "permit_request_id",
                    Map.of(
                            "id", "t.id - " + distance,
                            "permit_request_id", "t.permit_request_id - " + distance,
                            "token", "t.token + " + (copied + 1)),
                    "t.semaphore_id = %d and t.permit_request_id %s".formatted(semaphore, sources));
        }
        jdbc.update("update %ssemaphore set fence = fence + ? where id = ?".formatted(prefix), count, semaphore);
    }

    private void insert(String table, String key, Map<String, String> changed, String where) {
        Set<String> columns = jdbc.queryForMap(
                        "select * from %s%s where %s = ?".formatted(prefix, table, key), original)
                .keySet();
        List<String> values = columns.stream()
                .map(column -> changed.getOrDefault(column.toLowerCase(Locale.ROOT), "t." + column))
                .toList();
        jdbc.update("insert into %1$s%2$s (%3$s) select %4$s from %1$s%2$s t where %5$s"
                .formatted(prefix, table, String.join(", ", columns), String.join(", ", values), where));
    }

    /** Changes their state as a release does. */
    private void releaseCopies() {
        jdbc.update("""
                update %1$spermit_request set state = 'RELEASED' where id < ?
                and id in (select permit_request_id from %1$spermit where semaphore_id = ?)""".formatted(prefix), original, semaphore);
        jdbc.update(
                "update %spermit set state = 'RELEASED' where permit_request_id < ? and semaphore_id = ?"
                        .formatted(prefix),
                original,
                semaphore);
    }

    private long id(String query, Object key) {
        return jdbc.queryForList(query.formatted(prefix), Long.class, key).get(0);
    }
}
