package io.dbsemaphore.boot.shedlock;

import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Two instances of an application, each with a provider. */
final class LockProviderFixture implements AutoCloseable {

    private static final String PREFIX = "shedlock:";
    private static final SemaphoreSettings PATTERNS = TestSettings.defaults().withPattern(PREFIX + "*", 1);

    private final Schema schema = TestDatabase.create().migrate();
    private final Node node = node();
    private final Node other = node();

    Node node() {
        return Node.on(schema, PATTERNS);
    }

    SemaphoreLockProvider provider() {
        return provider(node);
    }

    /** Of the other instance. */
    SemaphoreLockProvider otherProvider() {
        return provider(other);
    }

    static SemaphoreLockProvider provider(Node of) {
        return new SemaphoreLockProvider(of.semaphores(), PREFIX);
    }

    /** Those whose time to live has not passed. */
    List<PermitHolder> holders(String lockName) {
        String name = PREFIX + lockName;
        Instant now = node.admin().now();
        return node.admin().find(name).isEmpty()
                ? List.of()
                : node.admin().holders(name).stream()
                        .filter(holder -> holder.expiresAt().orElseThrow().isAfter(now))
                        .toList();
    }

    /** How many have not been released, whether or not their time to live has passed. */
    int unreleased(String lockName) {
        return node.admin().holders(PREFIX + lockName).size();
    }

    /** How long the lock is still held unless it is unlocked or extended. */
    Duration left(String lockName) {
        return Duration.between(
                node.admin().now(), holders(lockName).get(0).expiresAt().orElseThrow());
    }

    /** The external ids of the locks that the instance has reported as lost. */
    List<String> lost() {
        return node.events().subjects("lost");
    }

    void releaseByForce(String lockName) {
        node.admin().forceRelease(holders(lockName).get(0).externalId(), "operator", "test");
    }

    @Override
    public void close() {
        other.close();
        node.close();
        schema.close();
    }
}
