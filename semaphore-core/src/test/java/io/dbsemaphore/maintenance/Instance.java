package io.dbsemaphore.maintenance;

import io.dbsemaphore.OwnerLiveness;
import io.dbsemaphore.SemaphoreAdmin;
import io.dbsemaphore.SemaphoreMaintenance;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.config.MaintenanceSettings;
import io.dbsemaphore.config.SemaphorePatterns;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.TestSettings;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * One application instance: an engine without a schedule on a data source whose statements can be watched and stopped. It
 * remembers what its listener was told, and has liveness checks of owners.
 */
final class Instance implements AutoCloseable {

    private final StatementGate gate;
    private final Events events = new Events();
    private final List<OwnerLiveness> judges = new CopyOnWriteArrayList<>();
    private final SemaphoreEngine engine;
    private final SemaphoreTemplate semaphores;

    Instance(DataSource dataSource, SemaphoreSettings settings, SemaphorePatterns patterns) {
        gate = new StatementGate(dataSource);
        engine = new SemaphoreEngine(gate, settings, patterns, () -> List.of(events), () -> judges);
        semaphores = new SemaphoreTemplate(engine.permitManager());
    }

    /** The default settings but for the size of the maintenance's batches, and without a schedule. */
    static SemaphoreSettings inBatchesOf(int batchSize) {
        return TestSettings.defaults()
                .with(MaintenanceSettings.ENABLED, false)
                .with(MaintenanceSettings.BATCH_SIZE, batchSize);
    }

    static SemaphoreSettings maintenance(int batchSize, Duration staleAfter, Duration ownerGrace) {
        return inBatchesOf(batchSize)
                .with(MaintenanceSettings.STALE_AFTER, staleAfter)
                .with(MaintenanceSettings.OWNER_GRACE, ownerGrace);
    }

    SemaphoreTemplate semaphores() {
        return semaphores;
    }

    SemaphoreAdmin admin() {
        return engine.admin();
    }

    SemaphoreMaintenance maintenance() {
        return engine.maintenance();
    }

    StatementGate gate() {
        return gate;
    }

    Events events() {
        return events;
    }

    /** The liveness checks of owners, in this order. */
    void judgeBy(OwnerLiveness... inOrder) {
        judges.clear();
        judges.addAll(List.of(inOrder));
    }

    /** What the host executes, in its transaction where there is one. */
    JdbcTemplate jdbc() {
        return new JdbcTemplate(gate);
    }

    /** A transaction of the host on the data source of this instance. */
    TransactionTemplate transaction() {
        return new TransactionTemplate(new DataSourceTransactionManager(gate));
    }

    @Override
    public void close() {
        gate.close();
        engine.close();
    }
}
