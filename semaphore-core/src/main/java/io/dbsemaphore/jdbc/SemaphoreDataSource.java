package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

/**
 * The host's data source as this library uses it: a few connections at once, at {@code READ COMMITTED} with auto-commit
 * off, which wait only shortly for a lock, and are ended by the server when they stay idle in the middle of a
 * transaction, so that a JVM that froze there blocks its semaphores for seconds, not hours. All of it is restored before
 * the host gets them back.
 *
 * <p>An object of its own also keeps our transactions apart from the host's: Spring binds connections by data source.
 */
public final class SemaphoreDataSource extends DelegatingDataSource implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Supplier<SessionPool> newPool;
    private volatile SessionPool sessions;

    /**
     * Wraps the host's data source.
     *
     * @param lockWait how long a statement waits for a row lock
     * @param idleLimit after how long without a statement the server ends the session of an open transaction
     * @param maxConnections how many connections may be used at once; who wants one more waits
     */
    public SemaphoreDataSource(
            DataSource host, Database database, Duration lockWait, Duration idleLimit, int maxConnections) {
        super(outsideOfHostTransactions(host));
        SessionLimits limits = database.sessionLimits(lockWait, idleLimit);
        this.newPool = () -> new SessionPool(obtainTargetDataSource(), limits, maxConnections, PATIENCE);
        this.sessions = newPool.get();
    }

    @Override
    public Connection getConnection() throws SQLException {
        return sessions.borrow();
    }

    /** Gives the host its connections back. What is asked for afterwards is given back after each transaction. */
    @Override
    public void close() {
        sessions.close();
    }

    /**
     * Gives the host its connections back until {@link #resume}, and waits for those in use.
     *
     * @param patience how long
     */
    public void suspend(Duration patience) {
        sessions.close();
        sessions.awaitReturns(patience);
    }

    /** Keeps sessions between two transactions again. */
    public void resume() {
        sessions = newPool.get();
    }

    @Override
    public Connection getConnection(String username, String password) throws SQLException {
        throw new UnsupportedOperationException("Semaphores connect as the host's DataSource does");
    }

    /**
     * What the host's transactions are bound to: beneath a transaction-aware proxy, which would hand out the connection of
     * the transaction of the moment.
     */
    public static DataSource outsideOfHostTransactions(DataSource host) {
        DataSource candidate = host;
        while (candidate instanceof DelegatingDataSource delegating && delegating.getTargetDataSource() != null) {
            DataSource target = delegating.getTargetDataSource();
            if (delegating instanceof TransactionAwareDataSourceProxy) {
                return outsideOfHostTransactions(target);
            }
            candidate = target;
        }
        return host;
    }
}
