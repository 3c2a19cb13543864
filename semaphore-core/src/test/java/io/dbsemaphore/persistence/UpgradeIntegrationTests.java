package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.admin.SemaphoreStatus.WaitingInstance;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.engine.SemaphoreTableMismatchException;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestSettings;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The tables of a version before the last change sets, with a request that it has granted. */
class UpgradeIntegrationTests {

    private TestDatabase.Schema database;
    private TableRows rows;

    @BeforeEach
    void migrateToTheVersionBefore() {
        database = TestDatabase.create().runChangelog(Map.of());
        rows = new TableRows(database);
        database.jdbc().execute("alter table permit_request drop column label");
        database.jdbc().execute("alter table permit_request drop column share_path");
        database.jdbc().execute("alter table semaphore_waiter drop column shares");
        database.jdbc().execute("drop table semaphore_share");
        database.jdbc()
                .execute("delete from DATABASECHANGELOG where ID in ('permit_request-2', 'semaphore_share-1',"
                        + " 'semaphore_share-2', 'semaphore_waiter-4', 'permit_request-3')");
        rows.insertSemaphore("backup", 5);
        grantAsBefore("before");
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void theStartSaysWhatToDoBeforeTheChangelogHasRun() {
        try (HikariDataSource pool = database.newPool(4)) {
            assertThatExceptionOfType(SemaphoreTableMismatchException.class)
                    .isThrownBy(() -> new SemaphoreEngine(pool, TestSettings.defaults()))
                    .withMessageContaining("The table 'permit_request' lacks the column(s) label, share_path")
                    .satisfies(mismatch -> assertThat(mismatch.action())
                            .contains("Run the application's own changelog")
                            .contains("Run the SQL script"));
        }
    }

    @Test
    void theChangelogAddsWhatIsMissing() {
        database.runChangelog(Map.of());

        assertNewAndOldAreShown();
    }

    @Test
    void theScriptAddsWhatIsMissing() {
        database.migrate();

        assertNewAndOldAreShown();
    }

    /** Instances of the version before go on granting meanwhile, by the statements that they have. */
    private void assertNewAndOldAreShown() {
        try (HikariDataSource pool = database.newPool(4);
                SemaphoreEngine engine = new SemaphoreEngine(pool, TestSettings.defaults())) {
            new SemaphoreTemplate(engine.permitManager())
                    .acquire(AcquireRequest.of("backup").withExternalId("new").withLabel("Backups.full"));
            grantAsBefore("beside");
            waitAsBefore();

            assertThat(engine.admin().waiting("backup"))
                    .extracting(WaitingInstance::name, WaitingInstance::callers)
                    .containsExactly(tuple("before", 2));
            assertThat(engine.admin().holders("backup"))
                    .extracting(PermitHolder::externalId, PermitHolder::label)
                    .containsExactlyInAnyOrder(
                            tuple("before", Optional.empty()),
                            tuple("new", Optional.of("Backups.full")),
                            tuple("beside", Optional.empty()));
        }
    }

    /** Without the columns that this version has added. */
    private void grantAsBefore(String externalId) {
        rows.insertPermit(rows.insertRequest(externalId, "ACQUIRED", null), 1, 0, "ACQUIRED");
    }

    private void waitAsBefore() {
        database.jdbc().update("""
                insert into semaphore_waiter (semaphore_id, instance, owner, since, waiting, first_waiters, expires_at)
                values (1, 1, 'before', ?, 2, '-', ?)""", TableRows.NOW, TableRows.NOW);
    }
}
