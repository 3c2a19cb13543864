package io.dbsemaphore.samples.migration.before;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

/** A row of the application's own table, locked until the transaction ends. */
public class Settlement {

    private final JdbcTemplate jdbc;

    public Settlement(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    @Transactional
    public void settle(Runnable work) {
        jdbc.queryForObject("select name from mutex where name = 'settlement' for update", String.class);
        work.run();
    }
}
