package io.dbsemaphore.tools.benchmark;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** Counts the statements of one kind that a MySQL server has received, whoever sent them, and however many in one packet. */
final class SentStatements {

    static final String TABLE_OF_MYSQL = "performance_schema.events_statements_summary_by_digest";

    private static final String COUNT =
            "select coalesce(sum(count_star), 0) from " + TABLE_OF_MYSQL + " where digest_text like ?";

    private final JdbcTemplate jdbc;
    private final String pattern;

    /** @param pattern for the operator {@code LIKE}, of normalized SQL */
    SentStatements(DataSource dataSource, String pattern) {
        this.jdbc = new JdbcTemplate(dataSource);
        this.pattern = pattern;
    }

    /** How many were received per second, during the time that it takes. */
    double perSecond(Duration length) throws InterruptedException {
        long before = count();
        long begin = System.nanoTime();
        TimeUnit.NANOSECONDS.sleep(length.toNanos());
        return (count() - before) * 1e9 / (System.nanoTime() - begin);
    }

    private long count() {
        Long count = jdbc.queryForObject(COUNT, Long.class, pattern);
        return count == null ? 0 : count;
    }
}
