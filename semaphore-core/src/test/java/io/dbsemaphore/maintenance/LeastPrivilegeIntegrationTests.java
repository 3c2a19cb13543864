package io.dbsemaphore.maintenance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** A user with the grants that docs/databases.md says, and no others, can do what it says, and nothing else. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB})
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LeastPrivilegeIntegrationTests {

    private static final String PASSWORD = "least-1-Privilege";

    private Schema schema;
    private String user;
    private HikariDataSource pool;

    @BeforeEach
    void createUser() throws IOException {
        schema = TestDatabase.create().migrate();
        user = "least_" + schema.name().replaceFirst(".*_(?=\\d+_\\d+$)", "");
        schema.jdbc().execute("create user '%s'@'%%' identified by '%s'".formatted(user, PASSWORD));
        grant("run time");
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(schema.jdbcUrl());
        config.setUsername(user);
        config.setPassword(PASSWORD);
        config.setMaximumPoolSize(6);
        pool = new HikariDataSource(config);
    }

    @AfterEach
    void dropUser() {
        pool.close();
        schema.jdbc().execute("drop user '%s'@'%%'".formatted(user));
        schema.close();
    }

    @Test
    void doesAllThatIsDoneAtRunTime() {
        try (SemaphoreEngine engine = engine()) {
            SemaphoreTemplate semaphores = new SemaphoreTemplate(engine.permitManager());
            engine.admin().create("one", 1);
            engine.admin().create("many", 5);

            PermitGrant grant = semaphores.acquire(
                    AcquireRequest.of("one").withPermits("many", 2).withTtl(Duration.ofMinutes(1)));
            assertThat(semaphores
                            .renew(grant.externalId(), Duration.ofMinutes(2))
                            .isHeld())
                    .isTrue();
            new TransactionTemplate(new DataSourceTransactionManager(pool))
                    .executeWithoutResult(status -> semaphores.requireHeld(grant));
            assertThatExceptionOfType(PermitsUnavailableException.class)
                    .isThrownBy(() -> semaphores.acquire(AcquireRequest.of("one")));
            assertThat(grant.release()).isEqualTo(ReleaseOutcome.RELEASED);
            semaphores.executeWithoutResult(
                    AcquireRequest.of("one", "made:1"),
                    kept -> assertThat(kept.isHeld()).isTrue());

            engine.admin().setCapacity("many", 7, "ops", "noon");
            PermitGrant forced = semaphores.acquire(AcquireRequest.of("one"));
            assertThat(engine.admin().forceRelease(forced.externalId(), "ops", "stuck"))
                    .isEqualTo(ReleaseOutcome.RELEASED);
            assertThat(engine.admin().list()).hasSize(3);
            assertThat(engine.admin().holders("many")).isEmpty();
            assertThat(engine.admin().capacityHistory("many")).hasSize(1);
            PermitGrant held = semaphores.acquire(AcquireRequest.of("one"));
            expire(held.externalId());
            assertThat(engine.maintenance().releaseOrphans()).isEqualTo(1);
        }
        assertThat(schema.jdbc().queryForObject("select count(*) from permit where state = 'ACQUIRED'", Integer.class))
                .isZero();
    }

    @Test
    void aGrantThatIsKeptAliveOutlivesAnOrderlyStop() {
        try (SemaphoreEngine engine = engine()) {
            engine.admin().create("one", 1);
            PermitGrant grant = new SemaphoreTemplate(engine.permitManager())
                    .acquire(AcquireRequest.of("one").withKeepAlive(true).withReleaseAtShutdown(false));

            engine.shutDown();

            assertThat(grant.isHeld()).isTrue();
            assertThat(count("permit_request where instance is not null and state = 'ACQUIRED'"))
                    .as("requests of dead instances can be reclaimed")
                    .isZero();
        }
    }

    @Slow
    @Test
    void cannotCleanUpWithoutItsGrants() {
        try (SemaphoreEngine engine = engine()) {
            leaveSomethingOld(engine);

            assertThatExceptionOfType(DataAccessException.class)
                    .isThrownBy(() -> engine.maintenance().deleteReleasedRequests())
                    .withStackTraceContaining("denied");
            assertThatExceptionOfType(DataAccessException.class)
                    .isThrownBy(() -> engine.maintenance().deleteCapacityHistory())
                    .withStackTraceContaining("denied");
            assertThatExceptionOfType(DataAccessException.class)
                    .isThrownBy(() -> engine.admin().delete("old"))
                    .withStackTraceContaining("denied");
        }
    }

    @Slow
    @Test
    void cleansUpWithItsGrants() throws IOException {
        grant("clean-up");
        try (SemaphoreEngine engine = engine()) {
            leaveSomethingOld(engine);

            // what the maintenance itself acquired is released, but not old
            assertThat(engine.maintenance().deleteReleasedRequests()).isEqualTo(1);
            assertThat(engine.maintenance().deleteCapacityHistory()).isEqualTo(1);
            assertThat(engine.admin().delete("old")).isTrue();
        }
        assertThat(count("semaphore where name like 'made:%'")).isZero();
        assertThat(count("semaphore_instance where owner = 'long gone'")).isZero();
        assertThat(count("semaphore_instance"))
                .as("rows of instances that have left")
                .isZero();
    }

    @Slow
    @Test
    void changesNoTable() {
        JdbcTemplate jdbc = new JdbcTemplate(pool);
        List.of(
                        "create table semaphore_more (id int)",
                        "alter table permit add column more int",
                        "drop table capacity_change",
                        "truncate table permit",
                        "create index ix_more on permit (token)")
                .forEach(ddl -> assertThatExceptionOfType(DataAccessException.class)
                        .as(ddl)
                        .isThrownBy(() -> jdbc.execute(ddl))
                        .withStackTraceContaining("denied"));
    }

    /** Something for each of the deletes to find. */
    private void leaveSomethingOld(SemaphoreEngine engine) {
        SemaphoreTemplate semaphores = new SemaphoreTemplate(engine.permitManager());
        engine.admin().create("old", 1);
        engine.admin().setCapacity("old", 2, "ops", "once");
        semaphores.acquire(AcquireRequest.of("made:1").withExternalId("new")).release();
        LocalDateTime past = LocalDateTime.now(ZoneOffset.UTC).minusDays(60);
        JdbcTemplate root = schema.jdbc();
        root.update("""
                insert into permit_request (id, external_id, owner, state, content_digest, ttl_millis, expires_at,
                    renewed_at, created_at, updated_at)
                values (1, 'ancient', 'nobody', 'RELEASED', 'none', 1000, ?, ?, ?, ?)""", past, past, past, past);
        root.update("""
                insert into permit (id, semaphore_id, permit_request_id, count, exclusive, state, token)
                select 1, id, 1, 1, 0, 'RELEASED', 1 from semaphore where name = 'old'""");
        root.update("update capacity_change set changed_at = ?", past);
        root.update("update semaphore set updated_at = ?, created_at = ? where name = 'made:1'", past, past);
        root.update(
                "insert into semaphore_instance (id, owner, started_at, heartbeat_at, expires_at)"
                        + " values (1, 'long gone', ?, ?, ?)",
                past,
                past,
                past);
    }

    private void expire(String externalId) {
        LocalDateTime past = LocalDateTime.now(ZoneOffset.UTC).minusMinutes(1);
        assertThat(schema.jdbc()
                        .update("update permit_request set expires_at = ? where external_id = ?", past, externalId))
                .isEqualTo(1);
    }

    private int count(String what) {
        Integer count = schema.jdbc().queryForObject("select count(*) from " + what, Integer.class);
        return count == null ? -1 : count;
    }

    private SemaphoreEngine engine() {
        SemaphoreSettings settings = TestSettings.defaults()
                .withPattern("made:*", 3)
                .with(SemaphoreSettings.SHUTDOWN_TIMEOUT, Duration.ofSeconds(1));
        return new SemaphoreEngine(pool, settings, List::of, List::of);
    }

    /** The SQL below this heading, as it stands in the documentation but for the names of database and user. */
    private void grant(String what) throws IOException {
        String databases = Files.readString(
                Path.of(System.getProperty("basedir", "")).toAbsolutePath().resolveSibling("docs/databases.md"));
        String marker = "-- " + what + "\n";
        assertThat(databases).containsOnlyOnce(marker);
        String block = databases.substring(databases.indexOf(marker) + marker.length());
        block = block.substring(0, Math.min(end(block, "\n\n"), end(block, "```")));
        List<String> grants = Arrays.stream(block.split(";"))
                .map(String::strip)
                .filter(statement -> !statement.isEmpty())
                .toList();
        assertThat(grants).isNotEmpty().allMatch(statement -> statement.startsWith("grant "));
        grants.forEach(statement -> schema.jdbc()
                .execute(statement
                        .replace(" on app.", " on " + schema.name() + ".")
                        .replace("'app'@", "'" + user + "'@")));
    }

    private static int end(String text, String mark) {
        int index = text.indexOf(mark);
        return index < 0 ? text.length() : index;
    }
}
