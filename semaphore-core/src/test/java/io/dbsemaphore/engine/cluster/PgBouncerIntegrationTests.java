package io.dbsemaphore.engine.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.Clustered;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.PeakCounter;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.cluster.PgBouncer;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.rerun.Promise;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Instances that share a few sessions of the server, each for one transaction at a time. */
@Clustered
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Promise
class PgBouncerIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final int CAPACITY = 2;

    private static Schema schema;
    private static PgBouncer bouncer;

    private Node first;
    private Node second;
    private String name;

    @BeforeAll
    static void start() {
        TestDatabase.assumeKind(DatabaseKind.POSTGRESQL);
        schema = TestDatabase.create().migrate();
        bouncer = PgBouncer.before(schema);
    }

    @AfterAll
    static void stop() {
        if (bouncer != null) {
            bouncer.close();
        }
        if (schema != null) {
            schema.close();
        }
    }

    @BeforeEach
    void startNodes() {
        first = node();
        second = node();
        name = first.semaphore(CAPACITY);
    }

    @AfterEach
    void stopNodes() {
        first.close();
        second.close();
    }

    private static Node node() {
        return new Node(
                schema.newPool(schema.poolConfig(6, bouncer.url())),
                TestSettings.instanceTimeout(Duration.ofSeconds(6)));
    }

    @Test
    void grantNoMoreThanTheCapacity() {
        PeakCounter working = new PeakCounter();

        Concurrently.run(16, SOON, thread -> {
            for (int i = 0; i < 5; i++) {
                try (PermitGrant grant = acquire(thread % 2 == 0 ? first : second)) {
                    working.enter();
                    working.leave();
                }
            }
        });

        assertThat(working.peak()).isBetween(1, CAPACITY);
        assertThat(first.admin().find(name).orElseThrow().held()).isZero();
    }

    /** A setting of one transaction would be that of another client's next one. */
    @Test
    void leaveNoSettingBehind() throws Exception {
        leaveSettingsAsTheyAre();
    }

    /** Nor would the library's transactions have the level that it sets for the session of another one. */
    @Test
    void leaveTheIsolationLevelOfTheDatabase() throws Exception {
        String database = text(schema.jdbcUrl(), "select current_database()");
        schema.jdbc()
                .execute("alter database \"" + database + "\" set default_transaction_isolation = 'repeatable read'");
        try {
            stopNodes(); // a host would get an idle connection that the restart ends
            bouncer.restart();
            startNodes();
            leaveSettingsAsTheyAre();
        } finally {
            schema.jdbc().execute("alter database \"" + database + "\" reset default_transaction_isolation");
            bouncer.restart();
        }
    }

    private void leaveSettingsAsTheyAre() throws Exception {
        String settings = "select concat_ws(' ', current_setting('lock_timeout'), current_setting('statement_timeout'),"
                + " current_setting('idle_in_transaction_session_timeout'), current_setting('synchronous_commit'),"
                + " current_setting('transaction_isolation'), current_setting('search_path'),"
                + " (select count(*) from pg_listening_channels()), (select count(*) from pg_prepared_statements),"
                + " (select count(*) from pg_locks where locktype = 'advisory'))";
        String untouched = text(schema.jdbcUrl(), settings);
        Concurrently.run(8, SOON, thread -> {
            try (PermitGrant grant = acquire(thread % 2 == 0 ? first : second)) {
                grant.renew(Duration.ofMinutes(5));
                first.transaction()
                        .executeWithoutResult(status -> first.semaphores().requireHeld(grant));
            }
        });

        assertThat(ofEachSession(settings)).hasSize(PgBouncer.SESSIONS).containsOnly(untouched);
    }

    @Test
    void keepTheirPermitsWhenItIsRestarted() throws Exception {
        PermitGrant held = acquire(first, true);

        bouncer.restart();

        try (PermitGrant other = acquire(second)) {
            assertThat(other.isHeld()).isTrue();
        }
        Awaitility.await("a heartbeat")
                .during(Duration.ofSeconds(3))
                .atMost(SOON)
                .until(() -> held.isHeld() && first.events().of("lost").isEmpty());
        first.transaction().executeWithoutResult(status -> first.semaphores().requireHeld(held));
        held.release();
        assertThat(second.admin().find(name).orElseThrow().held()).isZero();
    }

    private PermitGrant acquire(Node node) {
        return acquire(node, false);
    }

    private PermitGrant acquire(Node node, boolean keepAlive) {
        return node.semaphores()
                .acquire(AcquireRequest.of(name)
                        .withTtl(Duration.ofMinutes(5))
                        .withKeepAlive(keepAlive)
                        .withWaitTime(SOON));
    }

    /** As many transactions at once as there are sessions. */
    private static List<String> ofEachSession(String query) throws Exception {
        List<Connection> open = new ArrayList<>();
        List<String> texts = new ArrayList<>();
        try {
            for (int session = 0; session < PgBouncer.SESSIONS; session++) {
                Connection connection =
                        DriverManager.getConnection(bouncer.url(), schema.username(), schema.password());
                open.add(connection);
                connection.setAutoCommit(false);
                texts.add(text(connection, query));
            }
        } finally {
            for (Connection connection : open) {
                connection.close();
            }
        }
        return texts;
    }

    private static String text(String url, String query) throws Exception {
        try (Connection connection = DriverManager.getConnection(url, schema.username(), schema.password())) {
            return text(connection, query);
        }
    }

    private static String text(Connection connection, String query) throws Exception {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getString(1);
        }
    }
}
