package io.dbsemaphore.tools.benchmark.approach;

import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The least that a counter in a database can be: one committed UPDATE each way. It checks no capacity and loses the
 * permits of a crashed holder; it shows what a commit per caller costs.
 */
final class BareUpdateLimiter implements Limiter {

    private static final String TABLE = Tables.PREFIX + "counter";
    static final List<String> DDL =
            List.of("create table %s (id bigint primary key, used bigint not null)".formatted(TABLE));

    private static final String UPDATE = "update %s set used = used + ? where id = ?".formatted(TABLE);

    private final JdbcTemplate jdbc;
    private final TransactionTemplate transaction;

    BareUpdateLimiter(JdbcTemplate jdbc, TransactionTemplate transaction) {
        this.jdbc = jdbc;
        this.transaction = transaction;
    }

    @Override
    public void prepare(long semaphore, int capacity) {
        jdbc.update("insert into %s (id, used) values (?, 0)".formatted(TABLE), semaphore);
    }

    @Override
    public Held acquire(List<Long> semaphores) {
        add(1, semaphores);
        return () -> add(-1, semaphores);
    }

    private void add(int difference, List<Long> semaphores) {
        if (semaphores.size() == 1) {
            jdbc.update(UPDATE, difference, semaphores.get(0)); // autocommit: one round trip
        } else {
            transaction.executeWithoutResult(
                    status -> semaphores.forEach(semaphore -> jdbc.update(UPDATE, difference, semaphore)));
        }
    }
}
