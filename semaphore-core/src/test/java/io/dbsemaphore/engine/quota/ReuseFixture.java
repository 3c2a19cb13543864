package io.dbsemaphore.engine.quota;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Instances on one database: one reuses permits for long, one briefly, and the other one not at all. */
abstract class ReuseFixture {

    /** Long, so that a loaded machine does not end it between two calls of a test. */
    static final Duration REUSE = Duration.ofSeconds(10);

    static final Duration BRIEF = Duration.ofMillis(100);
    static final Duration SOON = Duration.ofSeconds(20);

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    static Node node;
    static Node brief;
    final List<Node> nodes = new ArrayList<>();
    final Node other = cluster.node(0);
    final String name = cluster.semaphore(1);

    @BeforeAll
    static void startNodes() {
        node = cluster.start(cluster.schema().newPool(10), settings(REUSE));
        brief = cluster.start(cluster.schema().newPool(10), settings(BRIEF));
    }

    static SemaphoreSettings settings(Duration reuse) {
        PerSemaphore<Duration> times = PerSemaphore.all(Duration.ZERO).with("s*", reuse);
        return TestSettings.defaults().with(SemaphoreSettings.REUSE, times);
    }

    @BeforeEach
    void forgetStatements() {
        node.gate().clear();
    }

    @AfterEach
    void closeNodes() {
        nodes.forEach(Node::close);
    }

    /** Starts an instance, which is closed after the test. */
    final Node node(Duration reuse) {
        Node started = Node.on(cluster.schema(), settings(reuse));
        nodes.add(started);
        return started;
    }

    static AcquireRequest request(String of) {
        return AcquireRequest.of(of).withKeepAlive(true);
    }

    final PermitGrant acquire(Node on) {
        return on.semaphores().acquire(request());
    }

    final AcquireRequest request() {
        return request(name);
    }

    static void requireHeld(PermitGrant grant) {
        node.transaction().executeWithoutResult(status -> node.semaphores().requireHeld(grant));
    }
}
