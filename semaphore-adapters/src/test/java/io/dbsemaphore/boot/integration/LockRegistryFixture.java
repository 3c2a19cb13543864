package io.dbsemaphore.boot.integration;

import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.boot.mutex.MutexRequests;
import io.dbsemaphore.config.MaintenanceSettings;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Two instances of an application, each with a registry, and a key that no other test uses. */
abstract class LockRegistryFixture {

    static final String PREFIX = "lock:";
    static final Duration TTL = Duration.ofSeconds(30);
    static final Duration SHORT = Duration.ofSeconds(1);
    static final SemaphoreSettings PATTERNS = TestSettings.defaults()
            .withPattern(PREFIX + "*", 1)
            .with(SemaphoreSettings.MAX_PATTERN_SEMAPHORES, 10_000)
            .with(MaintenanceSettings.ENABLED, false);

    static Schema schema;
    static Node node;
    static Node otherNode;

    final String key = "key " + UUID.randomUUID();
    final SemaphoreLockRegistry registry = registry(node, TTL, 256);
    final SemaphoreLockRegistry other = registry(otherNode, TTL, 256);

    @BeforeAll
    static void startNodes() {
        schema = TestDatabase.create().migrate();
        node = Node.on(schema, PATTERNS);
        otherNode = Node.on(schema, PATTERNS);
    }

    @AfterAll
    static void closeNodes() {
        otherNode.close();
        node.close();
        schema.close();
    }

    static SemaphoreLockRegistry registry(Node of, Duration ttl, int cacheCapacity) {
        return new SemaphoreLockRegistry(
                of.semaphores(), of.admin(), new MutexRequests(PREFIX, ttl, false), cacheCapacity);
    }

    static List<PermitHolder> holders(String key) {
        return node.admin().holders(PREFIX + key);
    }

    static boolean exists(String key) {
        return node.admin().find(PREFIX + key).isPresent();
    }

    /** Waits until the permit of the lock has expired by the database's clock. Nobody takes it. */
    static void awaitExpiry(String key) {
        Awaitility.await("expiry of " + key)
                .pollInterval(Duration.ofMillis(50))
                .until(() -> holders(key).stream()
                        .flatMap(holder -> holder.expiresAt().stream())
                        .noneMatch(expiry -> node.admin().now().isBefore(expiry)));
    }
}
