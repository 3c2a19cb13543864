package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TcpProxy;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLSyntaxErrorException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** How often a caller waits for the network, counted in the network. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.POSTGRESQL}) // where the driver sends several statements at once
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@DisabledIfSystemProperty(
        named = TestSettings.PIPELINING,
        matches = "false",
        disabledReason = "about several statements at once")
class RoundTripIntegrationTests {

    private static Schema schema;

    @BeforeAll
    static void createDatabase() {
        schema = TestDatabase.create().migrate();
    }

    @AfterAll
    static void dropDatabase() {
        schema.close();
    }

    /** URL parameters of the host with which several statements share a round trip. */
    static Stream<String> hostSettings() {
        return TestDatabase.kind() == DatabaseKind.MYSQL
                ? Stream.of("", "&allowMultiQueries=true&rewriteBatchedStatements=true", "&useLocalSessionState=true")
                : Stream.of(
                        "", "&prepareThreshold=0", "&prepareThreshold=1", "&autosave=always", "&defaultRowFetchSize=1");
    }

    @ParameterizedTest
    @MethodSource("hostSettings")
    void anAcquireIsTwoAndAReleaseOne(String hostSettings) {
        try (TcpProxy proxy = schema.newProxy();
                HikariDataSource pool = pool(proxy, hostSettings);
                SemaphoreEngine engine = new SemaphoreEngine(pool, TestSettings.defaults())) {
            SemaphoreTemplate semaphores = new SemaphoreTemplate(engine.permitManager());
            String name = "trips" + hostSettings.length();
            engine.admin().create(name, 1);
            List<Integer> acquires = new ArrayList<>();
            List<Integer> releases = new ArrayList<>();
            for (int i = 0; i < 60; i++) { // a session is kept for milliseconds; some of these have one
                proxy.clear();
                PermitGrant grant = semaphores.acquire(AcquireRequest.of(name));
                acquires.add(proxy.roundTrips());
                proxy.clear();
                grant.release();
                releases.add(proxy.roundTrips());
            }

            assertThat(Collections.min(acquires)).isEqualTo(2);
            assertThat(Collections.min(releases)).isEqualTo(1);
        }
    }

    /** One caller's release and the grant to the caller that waits for it. */
    @Slow
    @Measured
    @Test
    @DisabledIfSystemProperty(named = TestSettings.MAX_BATCH_SIZE, matches = "1", disabledReason = "about batches")
    void aHandoverIsTwo() {
        try (TcpProxy proxy = schema.newProxy();
                HikariDataSource pool = pool(proxy, "");
                SemaphoreEngine engine = new SemaphoreEngine(pool, TestSettings.defaults())) {
            SemaphoreTemplate semaphores = new SemaphoreTemplate(engine.permitManager());
            engine.admin().create("handover", 1);
            AcquireRequest request = AcquireRequest.of("handover").withWaitTime(Duration.ofSeconds(30));
            List<Integer> handovers = new ArrayList<>();
            PermitGrant grant = semaphores.acquire(request);
            for (int i = 0; i < 60; i++) { // a waiting caller is refused first, and polls for available permits
                proxy.clear();
                CompletableFuture<PermitGrant> next = CompletableFuture.supplyAsync(() -> semaphores.acquire(request));
                Awaitility.await()
                        .pollDelay(Duration.ZERO)
                        .pollInterval(Duration.ofMillis(1))
                        .until(() -> hasBeenRefused(proxy));
                proxy.clear();
                grant.release();
                grant = next.join();
                handovers.add(proxy.roundTrips());
            }
            grant.release();

            int least = Collections.min(handovers);
            assertThat(least).isGreaterThanOrEqualTo(2);
            Measurement.check(() -> assertThat(least).isEqualTo(2)); // sessions are kept for some milliseconds
        }
    }

    /** URL parameters of the host with which each statement may be sent on its own. */
    static Stream<String> otherHostSettings() {
        return TestDatabase.kind() == DatabaseKind.MYSQL
                ? Stream.of("&useServerPrepStmts=true") // the server prepares one statement at a time
                : Stream.of(
                        "&preferQueryMode=simple",
                        "&preferQueryMode=extendedForPrepared",
                        "&preferQueryMode=extendedCacheEverything");
    }

    @ParameterizedTest
    @MethodSource("otherHostSettings")
    void worksWithOtherSettings(String hostSettings) {
        try (TcpProxy proxy = schema.newProxy();
                HikariDataSource pool = pool(proxy, hostSettings);
                SemaphoreEngine engine = new SemaphoreEngine(pool, TestSettings.defaults())) {
            SemaphoreTemplate semaphores = new SemaphoreTemplate(engine.permitManager());
            String name = "other" + hostSettings.length();
            engine.admin().create(name, 1);
            engine.admin().create(name + "-too", 1);

            for (int i = 0; i < 20; i++) { // the driver has statements prepared that are repeated
                semaphores.acquire(AcquireRequest.of(name)).release();
                semaphores.acquire(AcquireRequest.of(name, name + "-too")).release();
            }

            assertThat(semaphores.tryAcquire(AcquireRequest.of(name))).isPresent();
            assertThat(semaphores.tryAcquire(AcquireRequest.of(name))).isEmpty();
        }
    }

    @Test
    @EnabledOnDatabase(DatabaseKind.POSTGRESQL)
    void beginsAnewWhereAProxyTakesOneStatementAtATime() {
        try (Node node = new Node(schema.newPool(4))) {
            node.admin().create("refused", 1);
            node.gate().failBefore("sum(", new SQLException("cannot insert multiple commands", "42601"));

            try (PermitGrant grant = node.semaphores().acquire(AcquireRequest.of("refused"))) {
                assertThat(grant.isHeld()).isTrue();
                assertThat(node.semaphores().tryAcquire(AcquireRequest.of("refused")))
                        .isEmpty();
            }
            assertThat(node.semaphores().tryAcquire(AcquireRequest.of("refused")))
                    .isPresent();
        }
    }

    @Test
    @EnabledOnDatabase(DatabaseKind.MYSQL) // PostgreSQL's driver always takes several
    void givesTheHostConnectionsThatTakeOneStatementAtATime() throws SQLException {
        try (TcpProxy proxy = schema.newProxy();
                HikariDataSource pool = pool(proxy, "");
                SemaphoreEngine engine = new SemaphoreEngine(pool, TestSettings.defaults())) {
            SemaphoreTemplate semaphores = new SemaphoreTemplate(engine.permitManager());
            engine.admin().create("one-at-a-time", 1);

            semaphores.acquire(AcquireRequest.of("one-at-a-time")).release();

            try (Connection connection = pool.getConnection();
                    Statement statement = connection.createStatement()) {
                assertThatExceptionOfType(SQLSyntaxErrorException.class)
                        .isThrownBy(() -> statement.execute("select 1; select 2"));
            }
        }
    }

    private static boolean hasBeenRefused(TcpProxy proxy) {
        return proxy.statements().stream()
                .dropWhile(sql -> !sql.contains("sum("))
                .anyMatch(sql -> sql.equalsIgnoreCase("commit"));
    }

    private static HikariDataSource pool(TcpProxy proxy, String hostSettings) {
        HikariConfig config = schema.poolConfig(1, schema.jdbcUrl(proxy) + hostSettings);
        return new HikariDataSource(config);
    }
}
