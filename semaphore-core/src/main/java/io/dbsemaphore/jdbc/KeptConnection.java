package io.dbsemaphore.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.BeanWrapper;
import org.springframework.beans.BeansException;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * The connection of the keep-alive. While it is {@linkplain #keep kept}, it is taken from the host's pool once and not given back
 * after each transaction: a host that uses its whole pool for long would otherwise keep renewals and heartbeats from the database,
 * and lose its permits.
 *
 * <p>Between transactions it has the settings of the host, like a connection in its pool: the limits of the library would end it
 * while it is idle. A connection that was idle is checked before it is used, since the server or a firewall may have ended it, and a
 * dead one is replaced. Used by one thread; {@link #close} by any.
 */
final class KeptConnection extends DelegatingDataSource implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(KeptConnection.class);

    /** A connection that was used this lately is not checked. */
    private static final long TRUSTED_NANOS = Duration.ofMillis(500).toNanos();

    private static final int CHECK_SECONDS = 2;

    /** Of fewer connections none is kept: a method that holds a permit and begins a transaction needs one itself. */
    private static final int FEWEST = 3;

    /** What pools call their size: HikariCP; Apache DBCP; Tomcat and Druid; c3p0, Atomikos and UCP. */
    private static final List<String> SIZES = List.of("maximumPoolSize", "maxTotal", "maxActive", "maxPoolSize");

    private final SessionPool.Host pool;
    private @Nullable Connection idle;
    private long idleSince;
    private boolean lent;
    private boolean keep;
    private boolean closed;

    private KeptConnection(DataSource host, SessionPool.Host pool) {
        super(host);
        this.pool = pool;
    }

    /** The connection of this pool; null if the pool, or what the library may use of it, is too small. A pool of unknown size is not. */
    static @Nullable KeptConnection of(DataSource host, SessionPool.Host hostPool, int maxConnections) {
        DataSource pool = host;
        while (pool instanceof DelegatingDataSource delegating && delegating.getTargetDataSource() != null) {
            pool = delegating.getTargetDataSource();
        }
        BeanWrapper properties = PropertyAccessorFactory.forBeanPropertyAccess(pool);
        return maxConnections < FEWEST || SIZES.stream().anyMatch(size -> isSmall(properties, size))
                ? null
                : new KeptConnection(host, hostPool);
    }

    private static boolean isSmall(BeanWrapper pool, String size) {
        try {
            return pool.isReadableProperty(size)
                    && pool.getPropertyValue(size) instanceof Integer max
                    && max > 0
                    && max < FEWEST;
        } catch (BeansException unknown) {
            log.debug("The size of the pool is not known", unknown);
            return false;
        }
    }

    /** Takes the connection now, so that it is there when the host has taken all others. */
    void keep() throws SQLException {
        synchronized (this) {
            keep = !closed;
            if (!keep || idle != null || lent) {
                return;
            }
        }
        giveBack(pool.take());
    }

    /** Returns the connection to the host, when the transaction on it has ended. */
    void release() throws SQLException {
        Connection released;
        synchronized (this) {
            keep = false;
            released = takeIdle();
        }
        if (released != null) {
            released.close();
        }
    }

    /** As {@link #release}, for good. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        try {
            release();
        } catch (SQLException failure) {
            log.debug("The connection of the keep-alive could not be returned to the pool", failure);
        }
    }

    @Override
    public Connection getConnection() throws SQLException {
        Connection kept;
        boolean trusted;
        synchronized (this) {
            trusted = System.nanoTime() - idleSince < TRUSTED_NANOS;
            kept = takeIdle();
        }
        if (kept != null && !trusted && !isAlive(kept)) {
            Session.evict(kept);
            kept = null;
        }
        Connection lending = kept == null ? pool.take() : kept;
        synchronized (this) {
            lent = true;
        }
        return new Borrowed(lending).proxy();
    }

    private synchronized @Nullable Connection takeIdle() {
        Connection taken = idle;
        idle = null;
        return taken;
    }

    private void giveBack(Connection connection) throws SQLException {
        synchronized (this) {
            lent = false;
            if (keep && idle == null) {
                idle = connection;
                idleSince = System.nanoTime();
                return;
            }
        }
        connection.close();
    }

    private synchronized void ended() {
        lent = false;
    }

    private static boolean isAlive(Connection connection) {
        try {
            boolean alive = connection.isValid(CHECK_SECONDS);
            if (alive && !connection.getAutoCommit()) {
                connection.rollback(); // the check may have begun a transaction
            }
            return alive;
        } catch (SQLException dead) {
            log.debug("The connection of the keep-alive was ended, and is replaced", dead);
            return false;
        }
    }

    /** What the keep-alive uses: when it is closed, the connection is given back here, unless it was aborted. */
    private final class Borrowed {

        private final Connection connection;
        private boolean aborted;

        Borrowed(Connection connection) {
            this.connection = connection;
        }

        Connection proxy() {
            return (Connection) Proxy.newProxyInstance(
                    KeptConnection.class.getClassLoader(), new Class<?>[] {Connection.class}, this::invoke);
        }

        private @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] args)
                throws Throwable {
            if (method.getName().equals("close") && !aborted) {
                giveBack(connection);
                return null;
            }
            if (method.getName().equals("abort")) {
                aborted = true;
                ended();
            }
            try {
                return method.invoke(connection, args);
            } catch (InvocationTargetException thrown) {
                throw thrown.getTargetException();
            }
        }
    }
}
