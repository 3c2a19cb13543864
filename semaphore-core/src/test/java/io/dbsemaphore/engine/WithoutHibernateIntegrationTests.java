package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An application that uses permits and administers nothing never starts Hibernate, which would delay its first acquires. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WithoutHibernateIntegrationTests {

    private static final Duration LEASE = Duration.ofSeconds(9);
    private static final Duration WAIT = Duration.ofSeconds(20);

    private Schema schema;
    private SemaphoreEngine engine;
    private SemaphoreOperations semaphores;

    @BeforeEach
    void start() {
        schema = TestDatabase.create().migrate();
        HikariDataSource pool = schema.newPool(5);
        engine = new SemaphoreEngine(
                pool, TestSettings.instanceTimeout(LEASE).withPattern("tenant-*", 1), List::of, List::of);
        semaphores = new SemaphoreTemplate(engine.permitManager());
        engine.admin().create("backup", 1);
    }

    @AfterEach
    void close() {
        engine.close();
        schema.close();
    }

    @Test
    void acquiresWaitsRenewsRepeatsAndReleases() throws Exception {
        PermitGrant grant = semaphores.acquire(
                AcquireRequest.of("backup").withExternalId("nightly").withTtl(WAIT));
        assertThat(semaphores.tryAcquire(AcquireRequest.of("backup"))).isEmpty();
        CompletableFuture<PermitGrant> waiting =
                semaphores.acquireAsync(AcquireRequest.of("backup").withWaitTime(WAIT));
        assertThat(grant.renew(WAIT).isHeld()).isEqualTo(true);
        assertThat(semaphores.find("nightly")).isPresent();
        assertThat(semaphores
                        .acquire(AcquireRequest.of("backup")
                                .withExternalId("nightly")
                                .withTtl(WAIT))
                        .isReplayed())
                .isEqualTo(true);
        assertThat(semaphores.release("nightly")).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(waiting.get(WAIT.toSeconds(), TimeUnit.SECONDS).release()).isEqualTo(ReleaseOutcome.RELEASED);

        assertWithoutHibernate();
    }

    @Test
    void createsByPatternAndKeepsAlive() {
        PermitGrant kept = semaphores.acquire(
                AcquireRequest.of("tenant-7").withKeepAlive(true).withTtl(Duration.ofSeconds(9)));
        Awaitility.await("heartbeats and renewals")
                .pollDelay(LEASE.plusSeconds(3))
                .atMost(WAIT)
                .until(kept::isHeld);
        assertThat(kept.release()).isEqualTo(ReleaseOutcome.RELEASED);

        assertWithoutHibernate();
    }

    @Test
    void reclaimsWhatHasExpired() {
        PermitGrant expiring = semaphores.acquire(AcquireRequest.of("backup").withTtl(AcquireRequest.MIN_TTL));

        PermitGrant next = semaphores.acquire(AcquireRequest.of("backup").withWaitTime(WAIT));

        assertThat(expiring.isHeld()).isEqualTo(false);
        next.release();
        assertWithoutHibernate();
    }

    /** What the starter does when an application starts, and what monitoring asks for. */
    @Test
    void checksDeclaresAndLists() {
        engine.check();
        engine.start();
        engine.admin().setCapacity("backup", 2, "test", "start");
        assertThat(engine.admin().list()).hasSize(1);
        assertThat(engine.admin().find("backup")).isPresent();

        assertWithoutHibernate();
    }

    @Test
    void coldOperationsStartHibernate() {
        PermitGrant grant = semaphores.acquire(AcquireRequest.of("backup"));

        assertThat(engine.admin().holders("backup")).hasSize(1);

        assertThat(engine.current().database.persistence().unit().isStarted()).isEqualTo(true);
        assertThat(grant.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(engine.admin().delete("backup")).isEqualTo(true);
    }

    private void assertWithoutHibernate() {
        assertThat(engine.current().database.persistence().unit().isStarted())
                .as("Hibernate was started")
                .isEqualTo(false);
    }
}
