package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.zaxxer.hikari.HikariConfig;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The driver of MySQL on a server of MariaDB, which refuses a lock with {@code NOWAIT} by the same error as a lock wait that
 * timed out: what is released together must not be sent with one.
 */
@EnabledOnDatabase(DatabaseKind.MARIADB)
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ConnectorJOnMariaDbIntegrationTests {

    private static final int GRANTS = 10;

    private Schema schema;
    private FaultyNode node;

    @BeforeEach
    void start() {
        schema = TestDatabase.create().migrate();
        assumeThat(schema.jdbc().queryForObject("select version()", String.class))
                .as("the driver asks for variables that older servers do not have")
                .startsWith("11");
        HikariConfig config = FaultyNode.config(
                schema, schema.jdbcUrl().replace("jdbc:mariadb:", "jdbc:mysql:") + "?sslMode=DISABLED", 5);
        node = FaultyNode.on(config, TestSettings.defaults());
        node.admin().create("a", GRANTS);
    }

    @AfterEach
    void stop() {
        if (node != null) {
            node.close();
        }
        schema.close();
    }

    @Test
    void releasesTogetherWhatNobodyElseHasLocked() throws Exception {
        List<PermitGrant> grants = IntStream.range(0, GRANTS)
                .mapToObj(i -> node.semaphores().acquire(AcquireRequest.of("a")))
                .toList();
        try (RowLock checked = RowLock.begin(schema)) {
            checked.execute(
                    "select p.id from permit p join permit_request r on r.id = p.permit_request_id"
                            + " where r.external_id = ? lock in share mode",
                    grants.get(0).externalId());

            Concurrently.run(
                    GRANTS - 1,
                    Duration.ofSeconds(4),
                    i -> assertThat(grants.get(i + 1).release()).isEqualTo(ReleaseOutcome.RELEASED));
        }

        grants.get(0).release();
        new SemaphoreRows(schema).assertNothingHeld(List.of("a"));
        assertThat(node.gate().statements()).noneMatch(sql -> sql.contains("nowait"));
    }
}
