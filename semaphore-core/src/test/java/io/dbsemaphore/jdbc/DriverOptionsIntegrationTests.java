package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.engine.UnsupportedDatabaseException;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.node.Node;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.UncategorizedSQLException;

/** Options of drivers with which grants would be wrong: nothing starts with them. */
class DriverOptionsIntegrationTests {

    private final Schema schema = TestDatabase.create().migrate();

    @AfterEach
    void close() {
        schema.close();
    }

    @Test
    @EnabledOnDatabase(DatabaseKind.MARIADB)
    void repeatedTransactionsAreRefused() {
        refuses("&transactionReplay=true", "transactionReplay=true");
        refuses("&transactionreplay=TRUE", "transactionReplay=true");
        accepts("&transactionReplay=false");
    }

    @Test
    @EnabledOnDatabase(DatabaseKind.MARIADB)
    void shiftedTimesAreRefused() {
        refuses(
                "&preserveInstants=true&pureLocalDateTime=false&connectionTimeZone=Asia/Tokyo",
                "pureLocalDateTime=false");
        accepts("&preserveInstants=true&connectionTimeZone=Asia/Tokyo");
    }

    @Test
    @EnabledOnDatabase(DatabaseKind.MYSQL)
    void timesWithoutAFractionAreRefused() {
        refuses("&sendFractionalSeconds=false", "sendFractionalSeconds=false");
        refuses("&sendFractionalSeconds=false&useServerPrepStmts=true", "sendFractionalSeconds=false");
        accepts("&connectionTimeZone=%2B03:00&forceConnectionTimeZoneToSession=true");
        accepts("&useServerPrepStmts=true");
    }

    /** The driver changes the session at each commit and rollback: settings of the library would stay in sessions of the host. */
    @Test
    @EnabledOnDatabase(DatabaseKind.MYSQL)
    void balancedLoadIsRefused() {
        try (HikariDataSource pool =
                new HikariDataSource(schema.poolConfig(2, severalHosts("jdbc:mysql:loadbalance:")))) {
            assertThatExceptionOfType(UnsupportedDatabaseException.class)
                    .isThrownBy(() -> start(pool))
                    .withMessageContainingAll("jdbc:mysql:loadbalance:", "jdbc:mysql:replication:")
                    .satisfies(refusal -> assertThat(refusal.database()).isEqualTo("jdbc:mysql:loadbalance:"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"jdbc:mysql:", "jdbc:mysql:replication:"})
    @EnabledOnDatabase(DatabaseKind.MYSQL)
    void severalHostsAreAccepted(String prefix) {
        startOn(severalHosts(prefix));
    }

    /** MariaDB's driver changes the session after a failure only. */
    @ParameterizedTest
    @ValueSource(strings = {"jdbc:mariadb:loadbalance:", "jdbc:mariadb:sequential:", "jdbc:mariadb:replication:"})
    @EnabledOnDatabase(DatabaseKind.MARIADB)
    void severalHostsOfMariaDbAreAccepted(String prefix) {
        startOn(severalHosts(prefix));
    }

    /** A server that answers is not told to be out of reach. */
    @Test
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB})
    void anErrorOfTheFirstQueryIsTold() {
        HikariConfig config = schema.poolConfig(2, schema.jdbcUrl());
        config.setConnectionInitSql("set session max_join_size = 1, session sql_big_selects = 0");
        try (HikariDataSource pool = new HikariDataSource(config)) {
            assertThatExceptionOfType(UncategorizedSQLException.class)
                    .isThrownBy(() -> start(pool))
                    .withMessageContaining("MAX_JOIN_SIZE");
        }
    }

    private String severalHosts(String prefix) {
        Matcher url = Pattern.compile("jdbc:\\w+:(//[^/]+)(/.*)").matcher(schema.jdbcUrl());
        assertThat(url.matches()).as(schema.jdbcUrl()).isTrue();
        return prefix + url.group(1) + "," + url.group(1).substring(2) + url.group(2);
    }

    private void startOn(String url) {
        try (HikariDataSource pool = new HikariDataSource(schema.poolConfig(2, url))) {
            start(pool);
        }
    }

    private void refuses(String options, String named) {
        try (HikariDataSource pool = new HikariDataSource(schema.poolConfig(2, withOptions(options)))) {
            assertThatExceptionOfType(UnsupportedDatabaseException.class)
                    .isThrownBy(() -> start(pool))
                    .withMessageContaining(named)
                    .satisfies(refusal -> {
                        assertThat(refusal.description()).contains("has the option " + named);
                        assertThat(refusal.action()).contains("Remove " + named);
                    });
        }
    }

    private void accepts(String options) {
        try (HikariDataSource pool = new HikariDataSource(schema.poolConfig(2, withOptions(options)))) {
            start(pool);
        }
    }

    private String withOptions(String options) {
        String url = schema.jdbcUrl();
        return url + (url.contains("?") ? options : options.replaceFirst("&", "?"));
    }

    private static void start(HikariDataSource pool) {
        try (Node node = new Node(pool)) {
            node.admin().create("named-" + System.nanoTime(), 1);
            node.admin()
                    .list()
                    .forEach(each -> assertThat(node.semaphores().tryAcquire(AcquireRequest.of(each.name())))
                            .isPresent());
        }
    }
}
