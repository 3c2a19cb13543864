package io.dbsemaphore.testing.node;

import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.spi.SemaphoreListener;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A schema for all tests of a class, and new nodes on it for each test. */
public final class NodesPerTest implements BeforeAllCallback, AfterEachCallback, AfterAllCallback {

    private final List<Node> nodes = new ArrayList<>();
    private @Nullable Schema schema;

    @Override
    public void beforeAll(ExtensionContext context) {
        schema = TestDatabase.create().migrate();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        nodes.forEach(Node::close);
        nodes.clear();
    }

    @Override
    public void afterAll(ExtensionContext context) {
        afterEach(context); // what a test has started that could not begin
        if (schema != null) {
            schema.close();
        }
    }

    public Schema schema() {
        if (schema == null) {
            throw new IllegalStateException("Before the first test of the class");
        }
        return schema;
    }

    /** Starts a node of the current test, which is closed after it. */
    public Node start(SemaphoreSettings settings, SemaphoreListener... first) {
        Node node = Node.on(schema(), settings, first);
        nodes.add(node);
        return node;
    }
}
