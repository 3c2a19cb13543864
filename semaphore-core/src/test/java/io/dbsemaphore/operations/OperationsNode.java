package io.dbsemaphore.operations;

import io.dbsemaphore.SemaphoreAdmin;
import io.dbsemaphore.SemaphoreListener;
import io.dbsemaphore.SemaphoreMaintenance;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.config.SemaphorePatterns;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.TcpProxy;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * One application instance: an engine, the data source under it, whose statements can be watched and stopped, and what
 * its listeners heard.
 */
final class OperationsNode implements AutoCloseable {

    private static final AtomicInteger NAMES = new AtomicInteger();

    private final RecordingListener events = new RecordingListener();
    private final StatementGate gate;
    private final SemaphoreEngine engine;
    private final SemaphoreTemplate semaphores;
    private final TransactionTemplate transaction;

    private OperationsNode(DataSource dataSource, SemaphoreSettings settings, List<SemaphoreListener> others) {
        gate = new StatementGate(dataSource);
        List<SemaphoreListener> listeners = new ArrayList<>(others);
        listeners.add(events);
        engine = new SemaphoreEngine(gate, settings, SemaphorePatterns.NONE, () -> listeners, List::of);
        semaphores = new SemaphoreTemplate(engine.permitManager());
        transaction = new TransactionTemplate(new DataSourceTransactionManager(gate));
    }

    static OperationsNode on(Schema schema, SemaphoreSettings settings) {
        return on(schema.newPool(6), settings);
    }

    /** A node with listeners that hear everything before the recording one does. */
    static OperationsNode on(Schema schema, SemaphoreSettings settings, SemaphoreListener... others) {
        return new OperationsNode(schema.newPool(6), settings, List.of(others));
    }

    static OperationsNode on(DataSource dataSource, SemaphoreSettings settings) {
        return new OperationsNode(dataSource, settings, List.of());
    }

    /** A node without a pool, so that only the proxy decides how soon a connection is made or fails. */
    static OperationsNode behind(TcpProxy proxy, Schema schema, SemaphoreSettings settings) {
        return on(new DriverManagerDataSource(schema.jdbcUrl(proxy), schema.username(), schema.password()), settings);
    }

    /** The defaults with this timeout of heartbeats. */
    static SemaphoreSettings settings(Duration instanceTimeout) {
        return settings(instanceTimeout, Duration.ofSeconds(1));
    }

    static SemaphoreSettings settings(Duration instanceTimeout, Duration shutdownTimeout) {
        return TestSettings.defaults()
                .with(SemaphoreSettings.INSTANCE_TIMEOUT, instanceTimeout)
                .with(SemaphoreSettings.SHUTDOWN_TIMEOUT, shutdownTimeout);
    }

    SemaphoreTemplate semaphores() {
        return semaphores;
    }

    SemaphoreAdmin admin() {
        return engine.admin();
    }

    SemaphoreMaintenance maintenance() {
        return engine.maintenance();
    }

    StatementGate gate() {
        return gate;
    }

    RecordingListener events() {
        return events;
    }

    /** A transaction of the host. */
    TransactionTemplate transaction() {
        return transaction;
    }

    /** Creates a semaphore that no other test uses. */
    String semaphore(int capacity) {
        String name = "operations-" + NAMES.incrementAndGet();
        admin().create(name, capacity);
        return name;
    }

    /** What is held of a semaphore, as the tables say. */
    static long held(Schema schema, String name) {
        Long held = schema.jdbc()
                .queryForObject(
                        "select coalesce(sum(p.count), 0) from permit p join semaphore s on s.id = p.semaphore_id"
                                + " where s.name = ? and p.state = 'ACQUIRED'",
                        Long.class,
                        name);
        return held == null ? -1 : held;
    }

    /** The states of the request with this external id and of its permits, as the tables say. */
    static List<String> states(Schema schema, String externalId) {
        JdbcTemplate jdbc = schema.jdbc();
        return jdbc.queryForList("""
                select state from permit_request where external_id = ?
                union select p.state from permit p join permit_request r on r.id = p.permit_request_id
                where r.external_id = ?""", String.class, externalId, externalId);
    }

    /** Runs the task on a thread of its own. */
    static <T extends @Nullable Object> Future<T> async(String threadName, Callable<T> task) {
        FutureTask<T> future = new FutureTask<>(task);
        Thread thread = new Thread(future, threadName);
        thread.setDaemon(true);
        thread.start();
        return future;
    }

    /** Stops the engine, as a context that is paused does. */
    void stop() {
        engine.shutDown();
    }

    /** Starts the engine, as a context that is resumed does. */
    void start() {
        engine.start();
    }

    /** Closes the engine only; statements paused at the gate stay paused. */
    void engineClose() {
        engine.close();
    }

    @Override
    public void close() {
        gate.close();
        engine.close();
    }
}
