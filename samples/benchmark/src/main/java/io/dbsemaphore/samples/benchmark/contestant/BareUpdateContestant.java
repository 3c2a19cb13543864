package io.dbsemaphore.samples.benchmark.contestant;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.samples.benchmark.database.Tables;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;

/**
 * The least that a counter in a database can be: one committed update each way. No capacity is checked, and a crashed
 * holder's permit is gone; it is what a commit per caller costs.
 */
final class BareUpdateContestant implements Contestant {

    static final String TABLE = Tables.PREFIX + "counter";
    static final List<String> DDL =
            List.of("create table %s (id bigint primary key, used bigint not null)".formatted(TABLE));

    private static final String UPDATE = "update %s set used = used + ? where id = ?".formatted(TABLE);

    private final HikariDataSource pool;
    private final PlainTransaction transaction;

    BareUpdateContestant(HikariDataSource pool) {
        this.pool = pool;
        this.transaction = new PlainTransaction(pool);
    }

    @Override
    public void prepare(long semaphore, int capacity) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement insert =
                        connection.prepareStatement("insert into %s (id, used) values (?, 0)".formatted(TABLE))) {
            insert.setLong(1, semaphore);
            insert.executeUpdate();
        }
    }

    @Override
    public Held acquire(List<Long> semaphores) throws SQLException {
        add(1, semaphores);
        return () -> add(-1, semaphores);
    }

    @Override
    public int connectionsInUse() {
        return pool.getHikariPoolMXBean().getActiveConnections();
    }

    @Override
    public void close() {}

    private void add(int difference, List<Long> semaphores) throws SQLException {
        if (semaphores.size() > 1) {
            transaction.execute(connection -> update(connection, difference, semaphores));
            return;
        }
        try (Connection connection = pool.getConnection()) {
            update(connection, difference, semaphores);
        }
    }

    private static int update(Connection connection, int difference, List<Long> semaphores) throws SQLException {
        int updated = 0;
        for (long semaphore : semaphores) {
            try (PreparedStatement update = connection.prepareStatement(UPDATE)) {
                update.setInt(1, difference);
                update.setLong(2, semaphore);
                updated += update.executeUpdate();
            }
        }
        return updated;
    }
}
