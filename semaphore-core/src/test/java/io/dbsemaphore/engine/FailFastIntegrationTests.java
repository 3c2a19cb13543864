package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireOutcomeUnknownException;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TcpProxy;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.QueryTimeoutException;

/**
 * A caller without a wait time is answered within the decision timeout, whether it runs the transaction on its own thread or
 * a worker does: when the pool has no connection, and when the network is silent.
 */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Slow
class FailFastIntegrationTests {

    private static final Duration DECISION_TIMEOUT = Duration.ofSeconds(4);

    /** Far less than the limits of the pool (30 s) and of an ordinary session (31 s). */
    private static final Duration AT_MOST = Duration.ofSeconds(10);

    private static final Duration SOON = Duration.ofSeconds(30);

    private Schema schema;

    @BeforeEach
    void createTables() {
        schema = TestDatabase.create().migrate();
    }

    @AfterEach
    void dropTables() {
        schema.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void isAnsweredInTimeWhileThePoolHasNoConnection(boolean keptAlive) throws Exception {
        try (HikariDataSource pool = schema.newPool(1);
                Node node = new Node(pool, settings())) {
            node.admin().create("exhausted", 1);
            AcquireRequest request = AcquireRequest.of("exhausted").withKeepAlive(keptAlive);
            useOften(node, request);
            try (Connection theOnlyOne = pool.getConnection()) {
                long begun = System.nanoTime();

                Throwable failure = failureOf(node, request);

                assertThat(since(begun)).isLessThan(AT_MOST);
                assertThat(failure)
                        .isInstanceOf(QueryTimeoutException.class)
                        .hasMessageContainingAll("exhausted", "semaphore.jdbc.decision-timeout", "Nothing is held");
                assertThat(theOnlyOne.isValid(30)).isEqualTo(true);
            }
            node.semaphores().acquire(request.withWaitTime(SOON)).release();
        }
    }

    /** A short wait time gives a decision no less time to begin than none. */
    @Test
    void isNotTurnedAwayForAShortWaitTimeWhileThePoolHasNoConnection() throws Exception {
        AcquireRequest request = AcquireRequest.of("busy").withWaitTime(Duration.ofMillis(5));
        try (HikariDataSource pool = schema.newPool(1);
                Node node = new Node(pool)) {
            node.admin().create("busy", 1);
            Future<PermitGrant> acquire;
            try (Connection theOnlyOne = pool.getConnection()) {
                acquire = Concurrently.async(() -> node.semaphores().acquire(request));
                Concurrently.assertWaits(acquire);
                assertThat(theOnlyOne.isValid(30)).isEqualTo(true);
            }
            Concurrently.get(acquire).release();
        }
    }

    @Test
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
    void isAnsweredInTimeWhileTheNetworkIsSilent() {
        AcquireRequest request = AcquireRequest.of("silent");
        try (TcpProxy proxy = schema.newProxy();
                Node node = Node.behind(proxy, schema, 3, settings())) {
            node.admin().create("silent", 1);
            useOften(node, request);
            proxy.silence(true);
            long begun = System.nanoTime();

            Throwable failure = failureOf(node, request);

            assertThat(since(begun)).isLessThan(AT_MOST);
            assertThat(failure).isInstanceOf(DataAccessException.class);
            proxy.close(); // the node need not wait for its connections
        }
        new SemaphoreRows(schema).awaitNothingHeld(SOON, request.permits().keySet());
    }

    @Test
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
    void isAnsweredInTimeWhenTheCommitIsNotAnswered() {
        AcquireRequest request = AcquireRequest.of("silent");
        SemaphoreRows rows = new SemaphoreRows(schema);
        try (TcpProxy proxy = schema.newProxy();
                Node node = Node.behind(proxy, schema, 3, settings())) {
            node.admin().create("silent", 1);
            useOften(node, request);
            proxy.silenceNextCommitAnswer("insert into permit_request");
            long begun = System.nanoTime();

            Throwable failure = failureOf(node, request);

            assertThat(since(begun)).isLessThan(AT_MOST);
            if (failure != null) { // otherwise the next attempt found the grant, which was released
                assertThat(failure).isInstanceOf(AcquireOutcomeUnknownException.class);
            }
            rows.awaitNothingHeld(SOON, request.permits().keySet());
        }
    }

    @Test
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
    void isAnsweredInTimeWhenTheOutcomeCannotBeFoundOut() {
        AcquireRequest request = AcquireRequest.of("lost");
        SemaphoreRows rows = new SemaphoreRows(schema);
        try (TcpProxy proxy = schema.newProxy()) {
            HikariConfig config = schema.poolConfig(1, schema.jdbcUrl(proxy)); // which waits for 30 s
            try (HikariDataSource pool = schema.newPool(config);
                    Node node = new Node(pool, settings().with(SemaphoreSettings.MAX_ATTEMPTS, 1))) {
                node.admin().create("lost", 1);
                useOften(node, request);
                proxy.refuse(true); // new connections
                proxy.dropNextCommitAnswer("insert into permit_request");
                long begun = System.nanoTime();

                Throwable failure = failureOf(node, request);

                assertThat(since(begun)).isLessThan(AT_MOST);
                assertThat(failure).isInstanceOf(AcquireOutcomeUnknownException.class);
                proxy.refuse(false);
                rows.awaitNothingHeld(SOON, request.permits().keySet());
            }
        }
    }

    /** So that a session is kept open, and the caller's thread runs the transaction. */
    private static void useOften(Node node, AcquireRequest request) {
        for (int i = 0; i < 100; i++) {
            node.semaphores().acquire(request.withWaitTime(SOON)).release();
        }
    }

    /** Acquires at once, since an idle session is not kept for long, and releases. */
    private static @Nullable Throwable failureOf(Node node, AcquireRequest request) {
        try {
            node.semaphores().tryAcquire(request).ifPresent(PermitGrant::release);
            return null;
        } catch (RuntimeException failure) {
            return failure;
        }
    }

    private static SemaphoreSettings settings() {
        return TestSettings.limits(1, 30, 3).with(SemaphoreSettings.DECISION_TIMEOUT, DECISION_TIMEOUT);
    }

    private static Duration since(long begun) {
        return Duration.ofNanos(System.nanoTime() - begun);
    }
}
