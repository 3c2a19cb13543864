package io.dbsemaphore.tools.benchmark.approach;

import com.zaxxer.hikari.HikariConfig;
import io.dbsemaphore.persistence.unit.TimeOrderedIds;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import javax.sql.DataSource;

/**
 * What the library sends, without the library: each caller in transactions of its own, on tables of the library. As many
 * sessions are open as threads acquire at once, and stay open.
 */
final class PlainStatementsLimiter implements Limiter {

    private final DataSource pool;
    private final PlainStatements statements;
    private final TimeOrderedIds ids = new TimeOrderedIds(System::currentTimeMillis);
    private final Deque<PlainSession> idle = new ConcurrentLinkedDeque<>();

    /** @param pool with {@link #configure its settings} */
    PlainStatementsLimiter(DataSource pool, String tablePrefix) throws SQLException {
        this.pool = pool;
        statements = PlainStatements.of(pool, tablePrefix);
    }

    /** What the library does with the sessions that it borrows. */
    static void configure(HikariConfig config) {
        config.setAutoCommit(false);
        config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
        if (config.getJdbcUrl().startsWith("jdbc:mysql:")) {
            config.addDataSourceProperty("allowMultiQueries", "true");
        }
    }

    @Override
    public void prepare(long semaphore, int capacity) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement insert = connection.prepareStatement(statements.insertSemaphore())) {
            insert.setLong(1, id(semaphore));
            insert.setString(2, "bench-" + semaphore);
            insert.setInt(3, capacity);
            insert.executeUpdate();
            connection.commit();
        }
    }

    @Override
    public Held acquire(List<Long> semaphores) throws SQLException {
        long semaphore = id(semaphores.get(0));
        long request = call(session -> session.acquire(semaphore));
        return () -> call(session -> {
            session.release(request);
            return request;
        });
    }

    /** Any number, if each JVM knows it. */
    private static long id(long semaphore) {
        return semaphore + 1;
    }

    /** A session whose transaction has failed is closed, which rolls it back. */
    private long call(Call call) throws SQLException {
        PlainSession session = idle.poll();
        if (session == null) {
            session = new PlainSession(pool.getConnection(), statements, ids);
        }
        boolean done = false;
        try {
            long request = call.on(session);
            done = true;
            return request;
        } finally {
            if (done) {
                idle.push(session);
            } else {
                session.close();
            }
        }
    }

    private interface Call {
        long on(PlainSession session) throws SQLException;
    }

    @Override
    public void close() throws Exception {
        while (!idle.isEmpty()) {
            idle.pop().close();
        }
    }
}
