package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestSettings;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Nodes on one database, which is made before the first test of a class and dropped after its last. */
final class Cluster implements BeforeAllCallback, AfterAllCallback {

    private static final List<String> TABLES = List.of("semaphore", "permit_request", "permit", "capacity_change");
    private static final AtomicInteger NAMES = new AtomicInteger();

    private final int size;
    private final int poolSize;
    private final List<Node> nodes = new ArrayList<>();
    private TestDatabase.@Nullable Schema schema;

    /** So many nodes with pools of ten. */
    Cluster(int size) {
        this(size, 10);
    }

    Cluster(int size, int poolSize) {
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

    TestDatabase.Schema schema() {
        if (schema == null) {
            throw new IllegalStateException("Before the first test of the class");
        }
        return schema;
    }

    /** The node with this index, modulo the number of nodes. */
    Node node(int index) {
        return nodes.get(index % size);
    }

    /** One more node; it is closed with the others at the latest. */
    Node start(DataSource dataSource) {
        return start(dataSource, TestSettings.defaults());
    }

    /** One more node with these settings. */
    Node start(DataSource dataSource, SemaphoreSettings settings) {
        Node node = new Node(dataSource, settings);
        nodes.add(node);
        return node;
    }

    /** Creates a semaphore with a name that no other test uses. */
    String semaphore(int capacity) {
        String name = "s" + NAMES.incrementAndGet();
        node(0).admin().create(name, capacity);
        return name;
    }

    /** Creates so many of them; later ones have higher ids. */
    List<String> semaphores(int count, int capacity) {
        return IntStream.range(0, count).mapToObj(i -> semaphore(capacity)).toList();
    }

    /** An external id that no other test uses. */
    String externalId() {
        return "r" + NAMES.incrementAndGet();
    }

    /** What is held of a semaphore, as the tables say. */
    long held(String name) {
        Long held = schema().jdbc()
                .queryForObject(
                        "select coalesce(sum(p.count), 0) from permit p join semaphore s on s.id = p.semaphore_id"
                                + " where s.name = ? and p.state = 'ACQUIRED'",
                        Long.class,
                        name);
        return held == null ? -1 : held;
    }

    /** All that is in the tables of the library. */
    Map<String, List<Map<String, Object>>> rows() {
        Map<String, List<Map<String, Object>>> rows = new TreeMap<>();
        TABLES.forEach(
                table -> rows.put(table, schema().jdbc().queryForList("select * from " + table + " order by id")));
        return rows;
    }

    /** Makes the time to live of a request be over. */
    void expire(String externalId) {
        schema().jdbc().update("update permit_request set expires_at = created_at where external_id = ?", externalId);
    }

    /** Locks the row of a semaphore, as another transaction would, until it is closed. */
    RowLock lock(String name) throws SQLException {
        Connection connection = schema().newPool(1).getConnection();
        connection.setAutoCommit(false);
        try (PreparedStatement lock =
                connection.prepareStatement("select id from semaphore where name = ? for update")) {
            lock.setString(1, name);
            lock.executeQuery();
        }
        return () -> {
            connection.rollback();
            connection.close();
        };
    }

    /** A lock that is given up when it is closed. */
    @FunctionalInterface
    interface RowLock extends AutoCloseable {

        @Override
        void close() throws SQLException;
    }

    /** Runs the task on a thread of its own. */
    static <T extends @Nullable Object> Future<T> async(Callable<T> task) {
        FutureTask<T> future = new FutureTask<>(task);
        Thread thread = new Thread(future, "async");
        thread.setDaemon(true);
        thread.start();
        return future;
    }

    /** The result of a task that must come soon. */
    static <T extends @Nullable Object> T get(Future<T> future) throws Exception {
        return future.get(30, TimeUnit.SECONDS);
    }

    /** Asserts that a task is still not done after a while. */
    static void assertWaits(Future<?> future) {
        assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> future.get(400, TimeUnit.MILLISECONDS));
    }
}
