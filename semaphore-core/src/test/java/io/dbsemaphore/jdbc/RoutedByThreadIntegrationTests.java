package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.AbstractDataSource;

/** A data source of the host's own make that chooses a database by what is bound to the thread. */
@Slow
class RoutedByThreadIntegrationTests {

    private static final ThreadLocal<String> TENANT = new ThreadLocal<>();

    private Schema shared;
    private Schema tenant;
    private SemaphoreEngine engine;
    private SemaphoreTemplate semaphores;

    @BeforeEach
    void start() {
        shared = TestDatabase.create().migrate();
        tenant = TestDatabase.create().migrate();
        engine = new SemaphoreEngine(new ByThread(shared.newPool(5), tenant.newPool(5)), SemaphoreSettings.defaults());
        semaphores = new SemaphoreTemplate(engine.permitManager());
        engine.admin().create("a", 1);
    }

    @AfterEach
    void stop() {
        TENANT.remove();
        engine.close();
        shared.close();
        tenant.close();
    }

    @Test
    void keepsAllSemaphoresInTheDatabaseOfThreadsThatBindNothing() {
        TENANT.set("tenant");

        PermitGrant grant = semaphores.acquire(AcquireRequest.of("a"));
        assertThat(semaphores.find(grant.externalId())).isPresent();
        engine.admin().create("b", 1);
        semaphores.acquire(AcquireRequest.of("b").withWaitTime(Duration.ofSeconds(1)));

        new SemaphoreRows(shared).assertHeldByOnly(grant);
        assertThat(tenant.jdbc().queryForList("select name from semaphore")).isEmpty();
        assertThat(tenant.jdbc().queryForList("select id from permit_request")).isEmpty();
        TENANT.remove();
        assertThat(semaphores.release(grant.externalId())).isEqualTo(ReleaseOutcome.RELEASED);
        new SemaphoreRows(shared).assertNothingHeld(List.of("a"));
    }

    private static final class ByThread extends AbstractDataSource {

        private final DataSource shared;
        private final DataSource tenant;

        ByThread(DataSource shared, DataSource tenant) {
            this.shared = shared;
            this.tenant = tenant;
        }

        @Override
        public Connection getConnection() throws SQLException {
            return (TENANT.get() == null ? shared : tenant).getConnection();
        }

        @Override
        public Connection getConnection(String username, String password) {
            throw new UnsupportedOperationException();
        }
    }
}
