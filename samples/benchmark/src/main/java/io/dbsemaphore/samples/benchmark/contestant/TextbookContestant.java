package io.dbsemaphore.samples.benchmark.contestant;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The algorithm as a textbook has it, statement by statement, each caller in a transaction of its own: lock the row of
 * the semaphore, sum what is held, insert request and permit. The pool is at READ COMMITTED, which saves it two round
 * trips per transaction.
 */
final class TextbookContestant implements Contestant {

    private static final String LOCK =
            "select capacity from %s where id = ? for update".formatted(TextbookTables.SEMAPHORE);
    private static final String SUM =
            "select coalesce(sum(permits), 0) from %s where semaphore_id = ? and state = 'ACQUIRED'"
                    .formatted(TextbookTables.PERMIT);
    private static final String INSERT_REQUEST = """
            insert into %s (id, external_id, owner, state, created_at, updated_at)
            values (?, ?, 'benchmark', 'ACQUIRED', current_timestamp(6), current_timestamp(6))""".formatted(TextbookTables.REQUEST);
    private static final String INSERT_PERMIT =
            "insert into %s (id, semaphore_id, request_id, permits, state) values (?, ?, ?, 1, 'ACQUIRED')"
                    .formatted(TextbookTables.PERMIT);
    private static final String RELEASE_REQUEST = """
            update %s set state = 'RELEASED', updated_at = current_timestamp(6)
            where id = ? and state = 'ACQUIRED'""".formatted(TextbookTables.REQUEST);
    private static final String RELEASE_PERMIT =
            "update %s set state = 'RELEASED' where request_id = ? and state = 'ACQUIRED'"
                    .formatted(TextbookTables.PERMIT);

    private final HikariDataSource pool;
    private final PlainTransaction transaction;
    private final AtomicLong ids;

    /** @param jvm 0 or 1; the two do not give the same ids */
    TextbookContestant(HikariDataSource pool, int jvm) {
        this.pool = pool;
        this.transaction = new PlainTransaction(pool);
        this.ids = new AtomicLong((System.currentTimeMillis() << 20) + (jvm * (1L << 62)));
    }

    @Override
    public void prepare(long semaphore, int capacity) throws SQLException {
        transaction.execute(connection -> update(
                connection,
                "insert into %s (id, capacity) values (?, ?)".formatted(TextbookTables.SEMAPHORE),
                semaphore,
                capacity));
    }

    @Override
    public Held acquire(List<Long> semaphores) throws SQLException {
        long request = transaction.execute(connection -> grant(connection, semaphores));
        return () -> transaction.execute(connection -> release(connection, request));
    }

    @Override
    public int connectionsInUse() {
        return pool.getHikariPoolMXBean().getActiveConnections();
    }

    @Override
    public void close() {}

    private long grant(Connection connection, List<Long> semaphores) throws SQLException {
        for (long semaphore : semaphores) {
            long capacity = query(connection, LOCK, semaphore);
            long held = query(connection, SUM, semaphore);
            if (held >= capacity) {
                throw new IllegalStateException("%d of %d held".formatted(held, capacity));
            }
        }
        long request = ids.incrementAndGet();
        update(connection, INSERT_REQUEST, request, UUID.randomUUID().toString());
        for (long semaphore : semaphores) {
            update(connection, INSERT_PERMIT, ids.incrementAndGet(), semaphore, request);
        }
        return request;
    }

    private static int release(Connection connection, long request) throws SQLException {
        if (update(connection, RELEASE_REQUEST, request) != 1) {
            throw new IllegalStateException("Request %d is not held".formatted(request));
        }
        return update(connection, RELEASE_PERMIT, request);
    }

    private static long query(Connection connection, String sql, long semaphore) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setLong(1, semaphore);
            try (ResultSet result = statement.executeQuery()) {
                result.next();
                return result.getLong(1);
            }
        }
    }

    private static int update(Connection connection, String sql, Object... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setObject(i + 1, values[i]);
            }
            return statement.executeUpdate();
        }
    }
}
