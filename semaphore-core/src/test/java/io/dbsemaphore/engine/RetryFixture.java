package io.dbsemaphore.engine;

import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.node.NodesPerTest;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.time.Duration;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Nodes whose transactions are tried again, and what the database has of them. */
abstract class RetryFixture {

    static final Duration SOON = Duration.ofSeconds(10);
    static final int ATTEMPTS = 3;

    /** Of {@code for update}, or on PostgreSQL {@code for no key update}. */
    static final String LOCK = " for ";

    static final String INSERT = "insert into permit_request";

    @RegisterExtension
    static final NodesPerTest nodes = new NodesPerTest();

    final Schema schema = nodes.schema();
    final SemaphoreRows rows = new SemaphoreRows(schema);
}
