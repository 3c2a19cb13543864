package io.dbsemaphore.testing.node;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreMaintenance;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.spi.CapacityProvider;
import io.dbsemaphore.spi.OwnerLiveness;
import io.dbsemaphore.spi.SemaphoreListener;
import io.dbsemaphore.testing.LimitedRows;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.TcpProxy;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * One application instance: an engine on a data source whose statements can be watched and stopped, transactions of its own
 * on it, and what its listeners heard. Closing it is an orderly shutdown, which releases what it holds.
 */
public final class Node implements AutoCloseable {

    /** How long the pool of a node behind a proxy waits for a connection. */
    public static final Duration POOL_TIMEOUT = Duration.ofMillis(500);

    private final RecordingListener events = new RecordingListener();
    private final List<OwnerLiveness> judges = new CopyOnWriteArrayList<>();
    private final List<CapacityProvider> providers = new CopyOnWriteArrayList<>();
    private final BorrowedConnections connections;
    private final @Nullable HikariDataSource ownPool;
    private final StatementGate gate;
    private final SemaphoreEngine engine;
    private final SemaphoreTemplate semaphores;
    private final DataSourceTransactionManager transactionManager;

    public Node(DataSource dataSource) {
        this(dataSource, TestSettings.defaults());
    }

    /** A node with listeners that hear everything before the recording one does. */
    public Node(DataSource dataSource, SemaphoreSettings settings, SemaphoreListener... listeners) {
        this(dataSource, null, settings, listeners);
    }

    private Node(
            DataSource dataSource,
            @Nullable HikariDataSource ownPool,
            SemaphoreSettings settings,
            SemaphoreListener... first) {
        this.ownPool = ownPool;
        List<SemaphoreListener> listeners =
                Stream.concat(Stream.of(first), Stream.of(events)).toList();
        connections = new BorrowedConnections(TestSettings.limitsRows() ? new LimitedRows(dataSource) : dataSource);
        gate = new StatementGate(connections);
        engine = new SemaphoreEngine(gate, settings, () -> listeners, () -> judges, () -> providers);
        semaphores = new SemaphoreTemplate(engine.permitManager());
        transactionManager = new DataSourceTransactionManager(gate);
    }

    /** A node with a pool of six connections, which is closed with it. */
    public static Node on(Schema schema) {
        return on(schema, TestSettings.defaults());
    }

    public static Node on(Schema schema, SemaphoreSettings settings, SemaphoreListener... first) {
        return owning(schema.newPool(6), settings, first);
    }

    /** A node whose pool does not wait long, so that neither does a test in which the database is away. */
    public static Node behind(TcpProxy proxy, Schema schema, int connections, SemaphoreSettings settings) {
        HikariConfig config = schema.poolConfig(connections, schema.jdbcUrl(proxy));
        config.setConnectionTimeout(POOL_TIMEOUT.toMillis());
        config.setValidationTimeout(POOL_TIMEOUT.toMillis() / 2);
        config.setInitializationFailTimeout(Duration.ofSeconds(30).toMillis());
        return owning(schema.newPool(config), settings);
    }

    /** A node without a pool, so that only the proxy decides how soon a connection is made or fails. */
    public static Node behind(TcpProxy proxy, Schema schema, SemaphoreSettings settings) {
        return new Node(
                new DriverManagerDataSource(schema.jdbcUrl(proxy), schema.username(), schema.password()), settings);
    }

    private static Node owning(HikariDataSource pool, SemaphoreSettings settings, SemaphoreListener... first) {
        return new Node(pool, pool, settings, first);
    }

    public SemaphoreTemplate semaphores() {
        return semaphores;
    }

    public SemaphoreAdmin admin() {
        return engine.admin();
    }

    public SemaphoreMaintenance maintenance() {
        return engine.maintenance();
    }

    /** The data source of this instance, which both the engine and the host use. */
    public StatementGate gate() {
        return gate;
    }

    public BorrowedConnections connections() {
        return connections;
    }

    public RecordingListener events() {
        return events;
    }

    /** The liveness checks of owners, in this order. */
    public void judgeBy(OwnerLiveness... inOrder) {
        judges.clear();
        judges.addAll(List.of(inOrder));
    }

    /** The providers of capacities, in this order. */
    public void provideBy(CapacityProvider... inOrder) {
        providers.clear();
        providers.addAll(List.of(inOrder));
    }

    public SemaphoreEngine engine() {
        return engine;
    }

    /** A transaction of the host, at the isolation that the database has by default. To be changed at will. */
    public TransactionTemplate transaction() {
        return new TransactionTemplate(transactionManager);
    }

    /** The same, beside the transaction in which this thread is, if there is one. */
    public TransactionTemplate innerTransaction() {
        TransactionTemplate inner = transaction();
        inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        return inner;
    }

    /** What the host executes, in its transaction where there is one. */
    public JdbcTemplate jdbc() {
        JdbcTemplate jdbc = new JdbcTemplate(gate);
        jdbc.setMaxRows(1_000_000);
        return jdbc;
    }

    /** Creates a semaphore that no other test uses. */
    public String semaphore(int capacity) {
        String name = SemaphoreRows.name("s");
        admin().create(name, capacity);
        return name;
    }

    /** Stops the engine, as a context that is paused does. */
    public void stop() {
        engine.shutDown();
    }

    /** Starts the engine, as a context that is resumed does. */
    public void start() {
        engine.start();
    }

    /** Closes the engine only; statements paused at the gate stay paused. */
    public void closeEngine() {
        engine.close();
    }

    @Override
    public void close() {
        gate.close();
        engine.close();
        if (ownPool != null) {
            ownPool.close();
        }
    }
}
