package io.dbsemaphore.test;

import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.config.MaintenanceSettings;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.springframework.transaction.support.TransactionTemplate;

/** The same contract on the engine and its database, to which semaphores in memory are held. */
class DatabaseContractIntegrationTests extends SemaphoreContract {

    private static TestDatabase.Schema schema;
    private static Node node;

    @BeforeAll
    static void start() {
        schema = TestDatabase.create().migrate();
        node = Node.on(schema, settings(TestSettings.defaults()).with(MaintenanceSettings.ENABLED, false));
    }

    @AfterAll
    static void stop() {
        node.close();
        schema.close();
    }

    @Override
    SemaphoreTemplate semaphores() {
        return node.semaphores();
    }

    @Override
    SemaphoreAdmin admin() {
        return node.admin();
    }

    @Override
    void awaitTime(Instant instant) {
        Awaitility.await()
                .atMost(60, TimeUnit.SECONDS)
                .pollInterval(10, TimeUnit.MILLISECONDS)
                .until(() -> node.admin().now().isAfter(instant));
    }

    @Override
    TransactionTemplate transaction() {
        return node.transaction();
    }
}
