package io.dbsemaphore.persistence;

import static io.dbsemaphore.persistence.TableRows.NOW;
import static io.dbsemaphore.persistence.TableRows.assertRefused;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.dbsemaphore.testing.TestDatabase;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the tables refuse, whatever writes to them. */
class SchemaConstraintsIntegrationTests {

    private static TestDatabase.Schema database;
    private static TableRows rows;

    @BeforeAll
    static void migrate() {
        database = TestDatabase.create().migrate();
        rows = new TableRows(database);
    }

    @AfterAll
    static void close() {
        database.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"X", "acquired", "", "EXPIRED"})
    void unknownStatesAreRefused(String state) {
        assertRefused("ck_permit_request_state", () -> rows.insertRequest("state-" + state, state, 1000L));
        long request = rows.insertRequest("permit-state-" + state, "ACQUIRED", null);
        assertRefused("ck_permit_state", () -> rows.insertPermit(request, 1, 0, state));
    }

    @Test
    void aNegativeCapacityIsRefused() {
        assertRefused("ck_semaphore_capacity", () -> rows.insertSemaphore("negative", -1));
        rows.insertSemaphore("paused", 0);
        assertRefused(
                "ck_semaphore_capacity",
                () -> database.jdbc().update("update semaphore set capacity = -1 where name = 'paused'"));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1})
    void aCountBelowOneIsRefused(int count) {
        long request = rows.insertRequest("count" + count, "ACQUIRED", 1000L);

        assertRefused("ck_permit_count", () -> rows.insertPermit(request, count, 0, "ACQUIRED"));
    }

    @Test
    void exclusiveIsZeroOrOne() {
        long request = rows.insertRequest("exclusive", "ACQUIRED", 1000L);

        assertRefused("ck_permit_exclusive", () -> rows.insertPermit(request, 1, 2, "ACQUIRED"));
        assertThatCode(() -> rows.insertPermit(request, 1, 1, "RELEASED")).doesNotThrowAnyException();
    }

    @Test
    void aTtlIsAbsentOrPositive() {
        rows.insertRequest("no ttl", "ACQUIRED", null);

        assertRefused("ck_permit_request_ttl", () -> rows.insertRequest("ttl 0", "ACQUIRED", 0L));
    }

    @Test
    void aPermitNeedsItsRequest() {
        assertRefused("fk_permit_permit_request", () -> rows.insertPermit(-1, 1, 0, "ACQUIRED"));
        long request = rows.insertRequest("referenced", "ACQUIRED", 1000L);
        rows.insertPermit(request, 1, 0, "ACQUIRED");
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
}
