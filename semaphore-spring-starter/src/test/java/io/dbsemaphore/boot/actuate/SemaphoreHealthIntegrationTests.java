package io.dbsemaphore.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.admin.SemaphoreMaintenance;
import io.dbsemaphore.boot.OrdersHost;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.MaintenanceClock;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.testing.TestDatabase;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Healthy is an instance that can read its tables and comes to the end of its maintenance. */
class SemaphoreHealthIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(30);

    private TestDatabase.Schema database;
    private OrdersHost host;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
    }

    @AfterEach
    void drop() {
        host.close();
        database.close();
    }

    @Test
    void isUp() {
        host = OrdersHost.on(database, "management.health.semaphore.enabled=true");

        assertThat(health().getStatus()).isEqualTo(Status.UP);
        assertThat(health().getDetails()).containsEntry("maintenance", "scheduled");
    }

    /** What exists works; only new names will fail. */
    @Test
    void isUpAndSaysWhenPatternsHaveCreatedMostOfWhatTheyMay() {
        host = OrdersHost.on(database, "semaphore.max-pattern-semaphores=5");
        for (int tenant = 1; tenant <= 4; tenant++) {
            assertThat(health().getDetails()).doesNotContainKey("patterns");
            host.semaphores().acquire(AcquireRequest.of("tenant:" + tenant)).release();
        }

        Health health = health();

        assertThat(health.getStatus()).isEqualTo(Status.UP);
        assertThat(health.getDetails())
                .containsEntry("patterns", "4 of 5 semaphores (semaphore.max-pattern-semaphores)");
    }

    @Test
    void isDownWithoutItsTables() {
        host = OrdersHost.on(database);
        database.jdbc().execute("drop table capacity_change");

        Health health = health();

        assertThat(health.getStatus()).isEqualTo(Status.DOWN);
        assertThat(reason(health)).contains("tables", "capacity_change", "db/dbsemaphore/changelog.xml");
    }

    /** The table can be read. */
    @Test
    void saysWhyItIsDown() {
        host = OrdersHost.on(database);
        database.jdbc().execute("alter table capacity_change drop column reason");

        Health health = health();

        assertThat(health.getStatus()).isEqualTo(Status.DOWN);
        assertThat(reason(health))
                .contains("capacity_change", "reason", "changelog")
                .doesNotContain("cannot be read");
    }

    @Test
    void isDownWhereTheMaintenanceDoesNotComeToItsEnd() {
        host = OrdersHost.on(database, "semaphore.maintenance.orphan-release-interval=10m");
        assertThat(health().getStatus()).isEqualTo(Status.UP);

        assertThat(reasonAfter(Duration.ofMinutes(31)))
                .contains("release of orphans", "semaphore.maintenance.orphan-release-interval", "PT10M");
        host.bean(SemaphoreMaintenance.class).releaseOrphans();
        await().atMost(SOON).until(() -> health().getStatus().equals(Status.UP));
    }

    @Test
    void isDownWhereAnotherTaskOfTheMaintenanceDoesNotComeToItsEnd() {
        host = OrdersHost.on(database);

        advance(Duration.ofHours(13));
        host.bean(SemaphoreMaintenance.class).releaseOrphans();
        if (health().getStatus().equals(Status.UP)) { // the scheduled task has just run
            advance(Duration.ofHours(13));
            host.bean(SemaphoreMaintenance.class).releaseOrphans();
        }
        assertThat(health().getStatus()).isEqualTo(Status.DOWN);
        assertThat(reason(health())).contains("clean-up of requests");
    }

    /** As after a checkpoint, or in a cached test context. */
    @Test
    void isUpAfterALongPause() {
        host = OrdersHost.on(database);

        for (int pause = 0; pause < 2; pause++) {
            host.context().pause();
            advance(Duration.ofDays(10));
            host.context().restart();

            assertThat(health()).extracting(Health::getStatus).isEqualTo(Status.UP);
        }
        assertThat(reasonAfter(Duration.ofHours(1))).contains("release of orphans");
    }

    @Test
    void doesNotExpectMaintenanceOfAnInstanceThatTakesNoPart() {
        host = OrdersHost.on(database, "semaphore.maintenance.enabled=false");

        host.bean(SemaphoreMaintenance.class).releaseOrphans();
        advance(Duration.ofDays(31));

        assertThat(health().getStatus()).isEqualTo(Status.UP);
        assertThat(health().getDetails()).containsEntry("maintenance", "not by this instance");
    }

    /** It need not have the listeners of the application. */
    @Test
    void checksTheMaintenanceOfAnEngineOfTheApplication() {
        host = OrdersHost.on(database, OwnEngine.class);
        assertThat(health().getStatus()).isEqualTo(Status.UP);

        assertThat(reasonAfter(Duration.ofMinutes(16))).contains("release of orphans");
        host.bean(SemaphoreMaintenance.class).releaseOrphans();
        assertThat(health().getStatus()).isEqualTo(Status.UP);
    }

    @Test
    void hearsOfTheScheduleItself() {
        host = OrdersHost.on(database, "semaphore.maintenance.orphan-release-interval=1s");
        advance(Duration.ofMinutes(2));

        await().atMost(SOON).until(() -> health().getStatus().equals(Status.UP));
    }

    @Test
    void isNotThereWhereItIsSwitchedOff() {
        host = OrdersHost.on(database, "management.health.semaphore.enabled=false");

        assertThat(host.context().containsBean("semaphoreHealthContributor")).isFalse();
    }

    /** The clock advances again if the scheduled task has just run. */
    private String reasonAfter(Duration time) {
        for (int attempt = 0; attempt < 2; attempt++) {
            advance(time);
            Health health = health();
            if (health.getStatus().equals(Status.DOWN)) {
                return reason(health);
            }
        }
        throw new AssertionError("Up after " + time);
    }

    private void advance(Duration time) {
        MaintenanceClock.advance(host.bean(SemaphoreEngine.class), time);
    }

    private Health health() {
        Health health = host.context()
                .getBean("semaphoreHealthContributor", HealthIndicator.class)
                .health();
        assertThat(health).isNotNull();
        return health;
    }

    private static String reason(Health health) {
        return String.valueOf(health.getDetails().get("reason"));
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnEngine {

        @Bean
        @DependsOnDatabaseInitialization
        SemaphoreEngine ownEngine(DataSource dataSource, SemaphoreSettings settings) {
            return new SemaphoreEngine(dataSource, settings);
        }
    }
}
