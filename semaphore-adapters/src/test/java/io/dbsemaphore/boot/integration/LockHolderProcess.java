package io.dbsemaphore.boot.integration;

import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;

/** A process that locks a key for 3 seconds, says so, and goes on until it is killed. */
final class LockHolderProcess {

    private LockHolderProcess() {}

    public static void main(String[] key) throws Exception {
        Schema schema = TestDatabase.handedOver();
        Node node = Node.on(schema, LockRegistryFixture.PATTERNS);
        LockRegistryFixture.registry(node, Duration.ofSeconds(3), 256)
                .obtain(key[0])
                .lock();
        System.out.println("LOCKED");
        System.in.read();
    }
}
