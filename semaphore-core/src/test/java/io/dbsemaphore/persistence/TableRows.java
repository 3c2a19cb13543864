package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.testing.TestDatabase.Schema;
import java.time.LocalDateTime;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;

/** Writes rows into the tables of a schema by plain SQL, past the library. */
final class TableRows {

    static final LocalDateTime NOW = LocalDateTime.of(2040, 2, 29, 23, 59, 59, 123_456_000);

    private final JdbcTemplate jdbc;
    private long ids;

    TableRows(Schema schema) {
        this.jdbc = schema.jdbc();
    }

    /** Fails unless the statement is refused by this constraint. */
    static void assertRefused(String constraint, ThrowingCallable statement) {
        assertThatExceptionOfType(DataAccessException.class)
                .isThrownBy(statement)
                .havingRootCause()
                .satisfies(e -> assertThat(e.getMessage()).containsIgnoringCase(constraint));
    }

    void insertSemaphore(String name, int capacity) {
        jdbc.update(
                "insert into semaphore (id, name, capacity, fence, created_at, updated_at) values (?, ?, ?, 1, ?, ?)",
                ++ids,
                name,
                capacity,
                NOW,
                NOW);
    }

    /** Returns the id of the new row. */
    long insertRequest(String externalId, String state, Long ttlMillis) {
        long id = ++ids;
        jdbc.update(
                "insert into permit_request (id, external_id, owner, instance, state, content_digest,"
                        + " ttl_millis, expires_at, renewed_at, created_at, updated_at)"
                        + " values (?, ?, 'owner', 1, ?, 'digest', ?, null, ?, ?, ?)",
                id,
                externalId,
                state,
                ttlMillis,
                NOW,
                NOW,
                NOW);
        return id;
    }

    void insertShare(long semaphore, String path) {
        jdbc.update(
                "insert into semaphore_share (semaphore_id, share_path, finish, own_finish, keys_time, updated_at)"
                        + " values (?, ?, 0, 0, 0, ?)",
                semaphore,
                path,
                NOW);
    }

    void insertPermit(long request, int count, int exclusive, String state) {
        jdbc.update(
                "insert into permit (id, semaphore_id, permit_request_id, count, exclusive, state, token)"
                        + " values (?, 1, ?, ?, ?, ?, 1)",
                ++ids,
                request,
                count,
                exclusive,
                state);
    }
}
