package io.dbsemaphore.engine;

import io.dbsemaphore.testing.TcpProxy;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

/** A node that loses its database, and another one that does not. */
abstract class LostDatabaseFixture {

    static final Duration SOON = Duration.ofSeconds(10);

    static Schema schema;
    static SemaphoreRows rows;
    static Node other;

    final TcpProxy proxy = schema.newProxy();
    final Node node;

    /** @param idleLimit for how many seconds a transaction of the node may be idle before the server ends it */
    LostDatabaseFixture(int connections, int idleLimit) {
        node = Node.behind(proxy, schema, connections, TestSettings.limits(1, idleLimit, 3));
    }

    @BeforeAll
    static void start() {
        schema = TestDatabase.create().migrate();
        rows = new SemaphoreRows(schema);
        other = Node.on(schema);
    }

    @AfterAll
    static void stop() {
        if (schema != null) {
            other.close();
            schema.close();
        }
    }

    @AfterEach
    void stopNode() {
        node.close();
        proxy.close();
    }

    final void loseDatabase() {
        proxy.refuse(true);
        proxy.cutAll();
    }
}
