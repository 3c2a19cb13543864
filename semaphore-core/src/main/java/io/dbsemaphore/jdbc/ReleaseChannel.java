package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.ClassUtils;

/**
 * A channel of PostgreSQL on which instances notify one another that they have released permits. A notification is only a hint to poll
 * at once: it may be lost, or come twice.
 *
 * @see <a href="https://www.postgresql.org/docs/current/sql-notify.html">PostgreSQL: NOTIFY</a>
 */
public final class ReleaseChannel {

    private static final Logger log = LoggerFactory.getLogger(ReleaseChannel.class);

    private static final boolean POSTGRESQL_DRIVER =
            ClassUtils.isPresent("org.postgresql.PGConnection", ReleaseChannel.class.getClassLoader());

    private final Sessions sessions;
    private final String name;
    private final String sender = UUID.randomUUID().toString() + ' ';

    private ReleaseChannel(Sessions sessions, String name) {
        this.sessions = sessions;
        this.name = name;
    }

    /**
     * Returns the channel for the tables with this prefix; empty unless the database and its driver are PostgreSQL's.
     *
     * @param tablePrefix up to 30 letters, digits and underscores. The channel's name contains it in lower case, as PostgreSQL folds the
     *     names of the tables
     */
    public static Optional<ReleaseChannel> of(Sessions sessions, Database database, String tablePrefix) {
        return database == Database.POSTGRESQL && POSTGRESQL_DRIVER
                ? Optional.of(new ReleaseChannel(sessions, tablePrefix.toLowerCase(Locale.ROOT) + "semaphore_released"))
                : Optional.empty();
    }

    /**
     * Returns SQL that notifies the other instances when the transaction commits.
     *
     * @param semaphore an expression for the name of the semaphore
     */
    public String notification(String semaphore) {
        return "pg_notify('" + name + "', '" + sender + "' || " + semaphore + ")";
    }

    /**
     * Listens to the other instances, on a connection of the application's data source. If that fails, the connection is evicted from its
     * pool.
     *
     * @throws SQLFeatureNotSupportedException if the connection is not one of PostgreSQL's driver
     * @throws SQLException if the database cannot be reached
     */
    public Subscription subscribe() throws SQLException {
        Connection connection = sessions.dataSource().getConnection();
        try {
            if (connection.isWrapperFor(PGConnection.class)) {
                return new Subscription(connection);
            }
        } catch (SQLException | RuntimeException | Error failure) {
            sessions.evict(connection);
            throw failure;
        }
        connection.close();
        throw new SQLFeatureNotSupportedException(
                connection.getClass() + " is not a connection of PostgreSQL's driver");
    }

    /** Whether the library has waited for a connection for this long; a subscription may hold the last one. */
    public boolean isPoolExhaustedFor(Duration time) {
        return sessions.isExhaustedFor(time);
    }

    /**
     * A connection that listens to the channel. Used by one thread. Must not be loaded if PostgreSQL's driver is missing.
     */
    public final class Subscription implements AutoCloseable {

        /** How long an answer of the server is awaited. */
        private static final Duration NETWORK_TIMEOUT = Duration.ofSeconds(3);

        private final Connection connection;
        private final PGConnection driver;
        private final boolean autoCommitBefore;
        private final int networkTimeoutBefore;

        private Subscription(Connection connection) throws SQLException {
            this.connection = connection;
            this.driver = connection.unwrap(PGConnection.class);
            this.autoCommitBefore = connection.getAutoCommit();
            this.networkTimeoutBefore = connection.getNetworkTimeout();
            connection.setNetworkTimeout(Runnable::run, Math.toIntExact(NETWORK_TIMEOUT.toMillis()));
            connection.setAutoCommit(true);
            execute("listen " + name);
        }

        /**
         * Waits for releases by other instances.
         *
         * @param timeout how long to wait, at least a millisecond
         * @return the names of the semaphores whose permits they have released; empty if none
         */
        public Set<String> await(Duration timeout) throws SQLException {
            Set<String> released = new HashSet<>();
            PGNotification[] received = driver.getNotifications(Math.toIntExact(timeout.toMillis()));
            for (PGNotification each : received) {
                String payload = each.getParameter();
                if (each.getName().equals(name) && !payload.startsWith(sender)) {
                    released.add(payload.substring(payload.indexOf(' ') + 1));
                }
            }
            return released;
        }

        /** Returns the connection to its data source as it was, or evicts it if it no longer works. */
        @Override
        public void close() {
            try {
                execute("unlisten " + name);
                connection.setAutoCommit(autoCommitBefore);
                connection.setNetworkTimeout(Runnable::run, networkTimeoutBefore);
                connection.close();
            } catch (SQLException | RuntimeException broken) {
                log.debug("The connection that listened for releases is broken; it is evicted", broken);
                sessions.evict(connection);
            }
        }

        private void execute(String sql) throws SQLException {
            try (Statement statement = connection.createStatement()) {
                statement.execute(sql);
            }
        }
    }
}
