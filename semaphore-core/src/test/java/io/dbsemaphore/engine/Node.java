package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreAdmin;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.TestSettings;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * What one application instance has: a data source, whose statements can be watched and stopped, transactions of its own
 * on it, and an engine. Closing it is an orderly shutdown, which releases what it holds.
 */
final class Node implements AutoCloseable {

    private final StatementGate gate;
    private final SemaphoreEngine engine;
    private final SemaphoreTemplate semaphores;
    private final DataSourceTransactionManager transactionManager;
    private final JdbcTemplate jdbc;

    Node(DataSource dataSource) {
        this(dataSource, TestSettings.defaults());
    }

    Node(DataSource dataSource, SemaphoreSettings settings) {
        gate = new StatementGate(dataSource);
        engine = new SemaphoreEngine(gate, settings);
        semaphores = new SemaphoreTemplate(engine.permitManager());
        transactionManager = new DataSourceTransactionManager(gate);
        jdbc = new JdbcTemplate(gate);
    }

    SemaphoreTemplate semaphores() {
        return semaphores;
    }

    SemaphoreAdmin admin() {
        return engine.admin();
    }

    /** The data source of this instance, which both the engine and the host use. */
    StatementGate gate() {
        return gate;
    }

    /** A transaction of the host, at the isolation that the database has by default. To be changed at will. */
    TransactionTemplate transaction() {
        return new TransactionTemplate(transactionManager);
    }

    /** The same, beside the transaction in which this thread is, if there is one. */
    TransactionTemplate innerTransaction() {
        TransactionTemplate inner = transaction();
        inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        return inner;
    }

    /** What the host executes, in its transaction where there is one. */
    JdbcTemplate jdbc() {
        return jdbc;
    }

    @Override
    public void close() {
        gate.close();
        engine.close();
    }
}
