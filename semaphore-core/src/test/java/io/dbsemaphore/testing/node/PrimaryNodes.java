package io.dbsemaphore.testing.node;

import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.cluster.GaleraCluster;
import io.dbsemaphore.testing.cluster.GroupReplication;
import io.dbsemaphore.testing.cluster.MultiPrimary;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Nodes on servers that are all written to, one on each. The servers are started before the first test of a class and stopped
 * after its last, the nodes are closed after each test.
 */
public final class PrimaryNodes<C extends MultiPrimary>
        implements BeforeAllCallback, AfterEachCallback, AfterAllCallback {

    private static final int POOL_SIZE = 10;

    private final Supplier<C> start;
    private @Nullable C servers;
    private List<Node> nodes = List.of();

    private PrimaryNodes(Supplier<C> start) {
        this.start = start;
    }

    public static PrimaryNodes<GaleraCluster> onGalera() {
        return new PrimaryNodes<>(GaleraCluster::start);
    }

    public static PrimaryNodes<GroupReplication> onGroupReplication() {
        return new PrimaryNodes<>(() -> {
            GroupReplication group = GroupReplication.start();
            group.schema(0).migrate();
            return group;
        });
    }

    /** Skips the class where the servers cannot be started. */
    @Override
    public void beforeAll(ExtensionContext context) {
        servers = start.get();
        servers.awaitInSync();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        nodes.forEach(Node::close);
        nodes = List.of();
    }

    @Override
    public void afterAll(ExtensionContext context) {
        if (servers != null) {
            servers.close();
        }
    }

    public C servers() {
        if (servers == null) {
            throw new IllegalStateException("Before the first test of the class");
        }
        return servers;
    }

    /** Starts the nodes, with the default settings. */
    public List<Node> start() {
        return start(pool -> pool, TestSettings.defaults());
    }

    /** Starts the nodes, on wrapped pools. */
    public List<Node> start(UnaryOperator<DataSource> wrapper, SemaphoreSettings settings) {
        nodes = IntStream.range(0, servers().size())
                .mapToObj(at -> new Node(wrapper.apply(servers().schema(at).newPool(POOL_SIZE)), settings))
                .toList();
        return nodes;
    }

    /** Creates a semaphore with a name that no other test uses, known to all servers. */
    public String semaphore(int capacity) {
        String name = nodes.get(0).semaphore(capacity);
        servers().awaitInSync();
        return name;
    }
}
