package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.testing.TestDatabase;
import java.time.LocalDateTime;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.DataAccessException;

/** What the tables refuse, whatever writes to them. */
class SchemaConstraintsIntegrationTests {

    private static final LocalDateTime NOW = LocalDateTime.of(2040, 2, 29, 23, 59, 59, 123_456_000);
    private static TestDatabase.Schema database;
    private static long ids;

    @BeforeAll
    static void migrate() {
        database = TestDatabase.create().migrate();
    }

    @AfterAll
    static void close() {
        database.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"X", "acquired", "", "EXPIRED"})
    void unknownStatesAreRefused(String state) {
        assertRefused("ck_permit_request_state", () -> insertRequest("state-" + state, state, 1000L));
        long request = insertRequest("permit-state-" + state, "ACQUIRED", null);
        assertRefused("ck_permit_state", () -> insertPermit(request, 1, 0, state));
    }

    @Test
    void aNegativeCapacityIsRefused() {
        assertRefused("ck_semaphore_capacity", () -> insertSemaphore("negative", -1));
        insertSemaphore("paused", 0);
        assertRefused(
                "ck_semaphore_capacity",
                () -> database.jdbc().update("update semaphore set capacity = -1 where name = 'paused'"));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1})
    void aCountBelowOneIsRefused(int count) {
        long request = insertRequest("count" + count, "ACQUIRED", 1000L);

        assertRefused("ck_permit_count", () -> insertPermit(request, count, 0, "ACQUIRED"));
    }

    @Test
    void exclusiveIsZeroOrOne() {
        long request = insertRequest("exclusive", "ACQUIRED", 1000L);

        assertRefused("ck_permit_exclusive", () -> insertPermit(request, 1, 2, "ACQUIRED"));
        assertThatCode(() -> insertPermit(request, 1, 1, "RELEASED")).doesNotThrowAnyException();
    }

    @Test
    void aTtlIsAbsentOrPositive() {
        insertRequest("no ttl", "ACQUIRED", null);

        assertRefused("ck_permit_request_ttl", () -> insertRequest("ttl 0", "ACQUIRED", 0L));
    }

    @Test
    void aPermitNeedsItsRequest() {
        assertRefused("fk_permit_permit_request", () -> insertPermit(-1, 1, 0, "ACQUIRED"));
        long request = insertRequest("referenced", "ACQUIRED", 1000L);
        insertPermit(request, 1, 0, "ACQUIRED");
        assertRefused(
                "fk_permit_permit_request",
                () -> database.jdbc().update("delete from permit_request where id = ?", request));
    }

    @Test
    void aChangeOfCapacityIsBetweenCapacities() {
        assertRefused(
                "ck_capacity_change",
                () -> database.jdbc()
                        .update(
                                "insert into capacity_change (id, semaphore_name, from_capacity, to_capacity,"
                                        + " changed_by, reason, changed_at) values (1, 'x', 1, -1, 'me', 'why', ?)",
                                NOW));
    }

    private static void assertRefused(String constraint, ThrowingCallable statement) {
        assertThatExceptionOfType(DataAccessException.class)
                .isThrownBy(statement)
                .havingRootCause()
                .satisfies(e -> assertThat(e.getMessage()).containsIgnoringCase(constraint));
    }

    private static void insertSemaphore(String name, int capacity) {
        database.jdbc()
                .update(
                        "insert into semaphore (id, name, capacity, fence, created_at, updated_at)"
                                + " values (?, ?, ?, 1, ?, ?)",
                        ++ids,
                        name,
                        capacity,
                        NOW,
                        NOW);
    }

    private static long insertRequest(String externalId, String state, Long ttlMillis) {
        long id = ++ids;
        database.jdbc()
                .update(
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

    private static void insertPermit(long request, int count, int exclusive, String state) {
        database.jdbc()
                .update(
                        "insert into permit (id, semaphore_id, permit_request_id, count, exclusive, state, token)"
                                + " values (?, 1, ?, ?, ?, ?, 1)",
                        ++ids,
                        request,
                        count,
                        exclusive,
                        state);
    }
}
