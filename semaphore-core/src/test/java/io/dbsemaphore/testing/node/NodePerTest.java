package io.dbsemaphore.testing.node;

import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A schema for all tests of a class, and a new node on it for each test. */
public final class NodePerTest implements BeforeAllCallback, AfterEachCallback, AfterAllCallback {

    private final SemaphoreSettings settings;
    private @Nullable Schema schema;
    private @Nullable Node node;

    public NodePerTest(SemaphoreSettings settings) {
        this.settings = settings;
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        schema = TestDatabase.create().migrate();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        if (node != null) {
            node.close();
            node = null;
        }
    }

    @Override
    public void afterAll(ExtensionContext context) {
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

    /** The node of the current test, which is started at the first call and closed after the test. */
    public Node node() {
        if (node == null) {
            node = Node.on(schema(), settings);
        }
        return node;
    }
}
