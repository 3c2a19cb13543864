package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.node.Node;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The connection of the first queries is cut. */
class LostConnectionAtStartIntegrationTests {

    private static final Schema schema = TestDatabase.create().migrate();

    private final StatementGate host = new StatementGate(schema.newPool(4));

    @AfterEach
    void openGate() {
        host.close();
    }

    @AfterAll
    static void closeSchema() {
        schema.close();
    }

    @Test
    void startsIfTheNextConnectionIsNotCut() {
        cutNext();

        try (Node node = new Node(host);
                PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(node.semaphore(1)))) {
            assertThat(grant.isHeld()).isTrue();
        }
    }

    @Test
    void failsIfTheNextConnectionIsCutToo() {
        cutNext();
        cutNext();

        assertThatThrownBy(() -> new Node(host).close()).hasStackTraceContaining("cut by a proxy");
    }

    /** Otherwise the tables would not be created, and the start would report that they are missing. */
    @Test
    void looksAtTheTablesOnTheNextConnection() throws SQLException {
        try (Schema empty = TestDatabase.create();
                StatementGate pool = new StatementGate(empty.newPool(1))) {
            pool.failBefore("from semaphore", new SQLException("cut by a proxy", "08006"));

            assertThat(new SchemaScript(pool, Database.of(empty.newPool(1)), "").isNeeded())
                    .isTrue();
        }
    }

    private void cutNext() {
        host.failBefore("from capacity_change", new SQLException("cut by a proxy", "08006"));
    }
}
