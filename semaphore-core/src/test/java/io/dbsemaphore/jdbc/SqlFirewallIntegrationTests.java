package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.alibaba.druid.pool.DruidDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.slf4j.LoggerFactory;

/** A pool whose filter refuses several statements at once, as firewalls for SQL do. */
@EnabledOnDatabase(DatabaseKind.MYSQL)
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@DisabledIfSystemProperty(
        named = TestSettings.PIPELINING,
        matches = "false",
        disabledReason = "about several statements at once")
class SqlFirewallIntegrationTests {

    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    private Schema schema;
    private SemaphoreRows rows;
    private DruidDataSource pool;
    private Node node;

    @BeforeEach
    void start() throws SQLException {
        schema = TestDatabase.create().migrate();
        rows = new SemaphoreRows(schema);
        pool = new DruidDataSource();
        pool.setUrl(schema.jdbcUrl());
        pool.setUsername(schema.username());
        pool.setPassword(schema.password());
        pool.setMaxActive(8);
        pool.setFilters("wall");
        log.start();
        logger().addAppender(log);
        node = new Node(pool);
    }

    @AfterEach
    void stop() {
        logger().detachAppender(log);
        node.close();
        pool.close();
        schema.close();
    }

    @Test
    void grantsAndReleasesStatementByStatementFromTheFirstRefusalOn() {
        node.admin().create("guarded", 1);

        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of("guarded"));
        rows.assertHeldByOnly(grant);
        assertThat(grant.release()).isEqualTo(ReleaseOutcome.RELEASED);
        node.semaphores().acquire(AcquireRequest.of("guarded")).close();

        rows.assertNothingHeld(List.of("guarded"));
        assertWarnedOnce();
    }

    @Test
    void grantsPermitsOfSeveralSemaphores() {
        node.admin().create("guarded", 1);
        node.admin().create("watched", 1);

        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of("guarded", "watched"));

        rows.assertHeldByOnly(grant);
        assertThat(node.semaphores().tryAcquire(AcquireRequest.of("guarded", "watched")))
                .isEmpty();
        assertThat(grant.release()).isEqualTo(ReleaseOutcome.RELEASED);
        rows.assertNothingHeld(List.of("guarded", "watched"));
    }

    @Slow
    @Test
    void losesNothingOfWhatManyAskWhenItIsRefusedFirst() {
        node.admin().create("guarded", 3);

        Concurrently.run(8, Duration.ofSeconds(40), i -> {
            for (int batch = 0; batch < 5; batch++) {
                node.semaphores()
                        .executeWithoutResult(
                                AcquireRequest.of("guarded").withWaitTime(Duration.ofSeconds(20)),
                                grant -> assertThat(rows.held("guarded")).isBetween(1, 3));
            }
        });

        rows.awaitNothingHeld(Duration.ofSeconds(5), List.of("guarded"));
        assertWarnedOnce();
    }

    @Test
    void beginsAnewWhereTheServerRefusesThem() {
        try (Node behindProxy = new Node(schema.newPool(4))) {
            behindProxy.admin().create("guarded", 1);
            behindProxy
                    .gate()
                    .failBefore("sum(", new SQLException("You have an error in your SQL syntax", "42000", 1064));

            log.list.clear(); // of the other node, which was refused at its start
            PermitGrant grant = behindProxy.semaphores().acquire(AcquireRequest.of("guarded"));

            rows.assertHeldByOnly(grant);
            assertWarnedOnce();
        }
    }

    @Slow
    @Test
    void isNeverAskedForSeveralWherePipeliningIsOff() {
        log.list.clear(); // of the other node
        try (Node oneByOne = new Node(pool, TestSettings.defaults().with(SemaphoreSettings.PIPELINING, false))) {
            oneByOne.admin().create("guarded", 1);

            oneByOne.semaphores().acquire(AcquireRequest.of("guarded")).close();

            rows.assertNothingHeld(List.of("guarded"));
            assertThat(log.list).isEmpty();
        }
    }

    private void assertWarnedOnce() {
        assertThat(log.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .filteredOn(message -> message.contains("several statements"))
                .singleElement()
                .satisfies(message -> assertThat(message).contains("semaphore.jdbc.pipelining=false"));
    }

    private static Logger logger() {
        return (Logger) LoggerFactory.getLogger("io.dbsemaphore.jdbc");
    }
}
