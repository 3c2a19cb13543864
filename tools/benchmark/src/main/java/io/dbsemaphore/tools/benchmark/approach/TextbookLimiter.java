package io.dbsemaphore.tools.benchmark.approach;

import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The textbook algorithm, statement by statement, each caller in a transaction of its own: lock the row of the semaphore
 * ({@code SELECT FOR UPDATE}), sum what is held, insert request and permit.
 */
final class TextbookLimiter implements Limiter {

    private static final String SEMAPHORE = Tables.PREFIX + "book_semaphore";
    private static final String REQUEST = Tables.PREFIX + "book_request";
    private static final String PERMIT = Tables.PREFIX + "book_permit";

    static final List<String> DDL = List.of(
            "create table %s (id bigint primary key, capacity int not null)".formatted(SEMAPHORE),
            """
            create table %s (
                id bigint primary key,
                external_id varchar(36) not null unique,
                owner varchar(64) not null,
                state varchar(16) not null,
                created_at timestamp(6) not null,
                updated_at timestamp(6) not null)""".formatted(REQUEST),
            """
            create table %s (
                id bigint primary key,
                semaphore_id bigint not null references %s (id),
                request_id bigint not null references %s (id),
                permits int not null,
                state varchar(16) not null)""".formatted(PERMIT, SEMAPHORE, REQUEST),
            "create index %1$s_held on %1$s (semaphore_id, state, permits)".formatted(PERMIT),
            "create index %1$s_request on %1$s (request_id)".formatted(PERMIT));

    private static final String LOCK = "select capacity from %s where id = ? for update".formatted(SEMAPHORE);
    private static final String SUM =
            "select coalesce(sum(permits), 0) from %s where semaphore_id = ? and state = 'ACQUIRED'".formatted(PERMIT);
    private static final String INSERT_REQUEST = """
            insert into %s (id, external_id, owner, state, created_at, updated_at)
            values (?, ?, 'benchmark', 'ACQUIRED', current_timestamp(6), current_timestamp(6))""".formatted(REQUEST);
    private static final String INSERT_PERMIT =
            "insert into %s (id, semaphore_id, request_id, permits, state) values (?, ?, ?, 1, 'ACQUIRED')"
                    .formatted(PERMIT);
    private static final String RELEASE_REQUEST = """
            update %s set state = 'RELEASED', updated_at = current_timestamp(6)
            where id = ? and state = 'ACQUIRED'""".formatted(REQUEST);
    private static final String RELEASE_PERMIT =
            "update %s set state = 'RELEASED' where request_id = ? and state = 'ACQUIRED'".formatted(PERMIT);

    private final JdbcTemplate jdbc;
    private final TransactionTemplate transaction;
    private final AtomicLong ids;

    /** @param jvm 0 or 1: the ids of two JVMs never meet */
    TextbookLimiter(JdbcTemplate jdbc, TransactionTemplate transaction, int jvm) {
        this.jdbc = jdbc;
        this.transaction = transaction;
        ids = new AtomicLong((System.currentTimeMillis() << 20) + (jvm * (1L << 62)));
    }

    @Override
    public void prepare(long semaphore, int capacity) {
        jdbc.update("insert into %s (id, capacity) values (?, ?)".formatted(SEMAPHORE), semaphore, capacity);
    }

    @Override
    public Held acquire(List<Long> semaphores) {
        long request = ids.incrementAndGet();
        transaction.executeWithoutResult(status -> grant(request, semaphores));
        return () -> transaction.executeWithoutResult(status -> release(request));
    }

    private void grant(long request, List<Long> semaphores) {
        for (long semaphore : semaphores) {
            long capacity = query(LOCK, semaphore);
            long held = query(SUM, semaphore);
            if (held >= capacity) {
                throw new IllegalStateException("%d of %d permits are held".formatted(held, capacity));
            }
        }
        jdbc.update(INSERT_REQUEST, request, UUID.randomUUID().toString());
        for (long semaphore : semaphores) {
            jdbc.update(INSERT_PERMIT, ids.incrementAndGet(), semaphore, request);
        }
    }

    private void release(long request) {
        if (jdbc.update(RELEASE_REQUEST, request) != 1) {
            throw new IllegalStateException("Request %d is not held".formatted(request));
        }
        jdbc.update(RELEASE_PERMIT, request);
    }

    private long query(String sql, long semaphore) {
        return Objects.requireNonNull(jdbc.queryForObject(sql, Long.class, semaphore));
    }
}
