package io.dbsemaphore.testing.node;

import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestSettings;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Nodes on one database, which is made before the first test of a class and dropped after its last. */
public final class Cluster implements BeforeAllCallback, AfterAllCallback {

    private static final List<String> TABLES = List.of("semaphore", "permit_request", "permit", "capacity_change");
    private static final AtomicInteger NAMES = new AtomicInteger();

    private final int size;
    private final int poolSize;
    private final List<Node> nodes = new ArrayList<>();
    private TestDatabase.@Nullable Schema schema;

    /** So many nodes with pools of ten. */
    public Cluster(int size) {
        this(size, 10);
    }

    public Cluster(int size, int poolSize) {
        this.size = size;
        this.poolSize = poolSize;
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        schema = TestDatabase.create().migrate();
        for (int i = 0; i < size; i++) {
            start(schema().newPool(poolSize));
        }
    }

    @Override
    public void afterAll(ExtensionContext context) {
        nodes.forEach(Node::close);
        nodes.clear();
        if (schema != null) {
            schema.close();
        }
    }

    public TestDatabase.Schema schema() {
        if (schema == null) {
            throw new IllegalStateException("Before the first test of the class");
        }
        return schema;
    }

    /** The node with this index, modulo the number of nodes. */
    public Node node(int index) {
        return nodes.get(index % size);
    }

    /** One more node; it is closed with the others at the latest. */
    public Node start(DataSource dataSource) {
        return start(dataSource, TestSettings.defaults());
    }

    /** One more node with these settings. */
    public Node start(DataSource dataSource, SemaphoreSettings settings) {
        Node node = new Node(dataSource, settings);
        nodes.add(node);
        return node;
    }

    /** Creates a semaphore with a name that no other test uses. */
    public String semaphore(int capacity) {
        String name = "s" + NAMES.incrementAndGet();
        node(0).admin().create(name, capacity);
        return name;
    }

    /** Creates so many of them; later ones have higher ids. */
    public List<String> semaphores(int count, int capacity) {
        return IntStream.range(0, count).mapToObj(i -> semaphore(capacity)).toList();
    }

    /** An external id that no other test uses. */
    public String externalId() {
        return "r" + NAMES.incrementAndGet();
    }

    /** What is held of a semaphore, as the tables say. */
    public long held(String name) {
        return new SemaphoreRows(schema()).held(name);
    }

    /** All that is in the tables of the library. */
    public Map<String, List<Map<String, Object>>> rows() {
        Map<String, List<Map<String, Object>>> rows = new TreeMap<>();
        TABLES.forEach(
                table -> rows.put(table, schema().jdbc().queryForList("select * from " + table + " order by id")));
        rows.values().forEach(table -> table.forEach(row -> row.remove("waiters_until"))); // no matter to a caller
        return rows;
    }

    /** Makes the time to live of a request be over. */
    public void expire(String externalId) {
        schema().jdbc().update("update permit_request set expires_at = created_at where external_id = ?", externalId);
    }

    /** Locks the row of a semaphore, as another transaction would, until it is closed. */
    public RowLock lock(String name) throws SQLException {
        return RowLock.ofSemaphore(schema(), name);
    }
}
