package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dbsemaphore.config.MaintenanceSettings;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A scheduled task that was not completed within three of its intervals, and within a minute, is overdue. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OverdueMaintenanceIntegrationTests {

    private Schema schema;

    @BeforeEach
    void create() {
        schema = TestDatabase.create().migrate();
    }

    @AfterEach
    void drop() {
        schema.close();
    }

    @Test
    void tasksAreOverdueAfterThreeIntervals() {
        try (SemaphoreEngine engine = start(TestSettings.defaults()
                .with(MaintenanceSettings.ORPHAN_RELEASE_INTERVAL, Duration.ofHours(30))
                .with(MaintenanceSettings.REQUEST_CLEANUP_INTERVAL, Duration.ofHours(20))
                .with(MaintenanceSettings.HISTORY_CLEANUP_INTERVAL, Duration.ofHours(10)))) {
            assertThat(engine.overdueMaintenance()).isEmpty();
            assertThat(overdueIn(engine, Duration.ofHours(29))).isEmpty();
            assertThat(overdueIn(engine, Duration.ofHours(31)).orElseThrow())
                    .matches(
                            "The clean-up of the audit has not completed on this instance for PT3(1H(\\d+S)?|0H59M5\\dS), although"
                                    + " semaphore.maintenance.history-cleanup-interval is PT10H. Look for the warning 'The clean-up of the"
                                    + " audit failed' in the log, and find out what blocks the threads semaphore-application-N");
            assertThat(overdueIn(engine, Duration.ofHours(61)).orElseThrow())
                    .contains("clean-up of requests", "semaphore.maintenance.request-cleanup-interval is PT20H");
            assertThat(overdueIn(engine, Duration.ofHours(91)).orElseThrow())
                    .contains("release of orphans", "semaphore.maintenance.orphan-release-interval is PT30H");
        }
    }

    @Test
    void aTaskWithAShortIntervalHasAMinute() {
        try (SemaphoreEngine engine = start(
                TestSettings.defaults().with(MaintenanceSettings.ORPHAN_RELEASE_INTERVAL, Duration.ofSeconds(10)))) {
            assertThat(overdueIn(engine, Duration.ofSeconds(45))).isEmpty();
            assertThat(overdueIn(engine, Duration.ofSeconds(75)).orElseThrow()).contains("release of orphans");
        }
    }

    @Test
    void aTaskThatFailsIsNotCompleted() {
        try (SemaphoreEngine engine = start(TestSettings.defaults())) {
            schema.jdbc().execute("drop table capacity_change");
            MaintenanceClock.advance(engine, Duration.ofDays(4));

            engine.maintenance().releaseOrphans();
            assertThatThrownBy(() -> engine.maintenance().deleteReleasedRequests())
                    .isInstanceOf(RuntimeException.class);

            assertThat(engine.overdueMaintenance().orElseThrow()).contains("clean-up of requests", "for PT96H");
        }
    }

    @Test
    void nothingIsOverdueThatIsNotScheduled() {
        try (SemaphoreEngine engine = new SemaphoreEngine(schema.newPool(6), TestSettings.defaults())) {
            assertThat(overdueIn(engine, Duration.ofDays(10)))
                    .as("before the start")
                    .isEmpty();
        }
        try (SemaphoreEngine engine = start(TestSettings.defaults().with(MaintenanceSettings.ENABLED, false))) {
            engine.maintenance().releaseOrphans();

            assertThat(overdueIn(engine, Duration.ofDays(10)))
                    .as("without a schedule")
                    .isEmpty();
        }
    }

    /** No task is due while an engine is stopped. */
    @Test
    void theTimeBeginsAnewWithEachStart() {
        try (SemaphoreEngine engine = start(TestSettings.defaults())) {
            for (int pause = 0; pause < 2; pause++) {
                engine.shutDown();
                MaintenanceClock.advance(engine, Duration.ofDays(10));
                assertThat(engine.overdueMaintenance().orElseThrow()).contains("release of orphans", "for PT240H");

                engine.start();

                assertThat(engine.overdueMaintenance()).isEmpty();
            }
            assertThat(overdueIn(engine, Duration.ofMinutes(16)).orElseThrow()).contains("release of orphans");
        }
    }

    private SemaphoreEngine start(SemaphoreSettings settings) {
        SemaphoreEngine engine = new SemaphoreEngine(schema.newPool(6), settings);
        engine.start();
        return engine;
    }

    /** If no task is completed until then. */
    private static Optional<String> overdueIn(SemaphoreEngine engine, Duration time) {
        return engine.current().maintenance.overdue(System.nanoTime() + time.toNanos());
    }
}
