package io.dbsemaphore.tools.benchmark.approach;

import io.dbsemaphore.persistence.unit.TimeOrderedIds;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A connection on which one caller at a time acquires and releases by {@link PlainStatements}, which stay prepared. */
final class PlainSession implements AutoCloseable {

    private static final Duration TTL = Duration.ofMinutes(5);
    private static final String OWNER = "benchmark";
    private static final String DIGEST = "0".repeat(64); // as long as the library's

    private final Connection connection;
    private final TimeOrderedIds ids;
    private final int opening;
    private final PreparedStatement lock;
    private final PreparedStatement write;
    private final PreparedStatement release;

    /** @param connection at READ COMMITTED, without auto-commit */
    PlainSession(Connection connection, PlainStatements statements, TimeOrderedIds ids) throws SQLException {
        this.connection = connection;
        this.ids = ids;
        opening = statements.opening().size();
        lock = connection.prepareStatement(statements.lockText());
        write = connection.prepareStatement(statements.writeText());
        release = connection.prepareStatement(statements.releaseText());
    }

    /** Acquires a permit in two round trips, and returns the id of its request. */
    long acquire(long semaphore) throws SQLException {
        bind(lock, semaphore, semaphore, semaphore);
        lock.execute();
        skip(lock, opening);
        int capacity;
        long fence;
        try (ResultSet row = lock.getResultSet()) {
            row.next();
            capacity = row.getInt(3);
            fence = row.getLong(4);
        }
        skip(lock, 1);
        try (ResultSet row = lock.getResultSet()) {
            row.next();
            long held = row.getLong(1);
            if (held >= capacity || row.getInt(2) > 0) {
                throw new IllegalStateException("%d of %d permits are held".formatted(held, capacity));
            }
            long liveFrom = held > 0 ? row.getLong(3) : fence + 1;
            return grant(semaphore, fence + 1, liveFrom, row.getObject(4, LocalDateTime.class));
        }
    }

    private long grant(long semaphore, long token, long liveFrom, LocalDateTime now) throws SQLException {
        long request = ids.next();
        bind(
                write,
                // the fence
                1L,
                now,
                liveFrom,
                semaphore,
                // the request
                request,
                UUID.randomUUID().toString(),
                OWNER,
                null,
                null,
                null,
                "ACQUIRED",
                DIGEST,
                TTL.toMillis(),
                now.plus(TTL),
                now,
                now,
                now,
                // the permit
                ids.next(),
                semaphore,
                request,
                1,
                0,
                "ACQUIRED",
                token);
        write.executeUpdate();
        return request;
    }

    /** Releases a request in one round trip. */
    void release(long request) throws SQLException {
        bind(release, request, request);
        if (opening == 0) {
            release.executeUpdate(); // Connector/J's execute() would first ask the server whether it is read-only
        } else {
            release.execute();
        }
        skip(release, opening);
        if (release.getUpdateCount() != 1) {
            throw new IllegalStateException("Request %d is not held".formatted(request));
        }
    }

    private static void bind(PreparedStatement statement, @Nullable Object... values) throws SQLException {
        for (int i = 0; i < values.length; i++) {
            statement.setObject(i + 1, values[i]);
        }
    }

    private static void skip(PreparedStatement executed, int results) throws SQLException {
        for (int i = 0; i < results; i++) {
            executed.getMoreResults();
        }
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
