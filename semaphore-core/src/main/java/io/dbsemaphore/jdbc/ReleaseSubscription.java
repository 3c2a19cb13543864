package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection that listens to a {@link ReleaseChannel}. Used by one thread. Must not be loaded if PostgreSQL's driver is missing.
 */
public final class ReleaseSubscription implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(ReleaseSubscription.class);

    /** How long an answer of the server is awaited. */
    private static final Duration NETWORK_TIMEOUT = Duration.ofSeconds(3);

    private final Connection connection;
    private final PGConnection driver;
    private final String channel;
    private final String ownSender;
    private final boolean autoCommitBefore;
    private final int networkTimeoutBefore;

    private ReleaseSubscription(Connection connection, String channel, String ownSender) throws SQLException {
        this.connection = connection;
        this.driver = connection.unwrap(PGConnection.class);
        this.channel = channel;
        this.ownSender = ownSender;
        this.autoCommitBefore = connection.getAutoCommit();
        this.networkTimeoutBefore = connection.getNetworkTimeout();
    }

    /**
     * Listens on a connection, which is evicted from its pool if that fails.
     *
     * @throws SQLFeatureNotSupportedException if it is not one of PostgreSQL's driver
     */
    static ReleaseSubscription on(Connection connection, String channel, String ownSender) throws SQLException {
        try {
            if (!connection.isWrapperFor(PGConnection.class)) {
                throw new SQLFeatureNotSupportedException(
                        connection.getClass() + " is not a connection of PostgreSQL's driver");
            }
            ReleaseSubscription subscription = new ReleaseSubscription(connection, channel, ownSender);
            subscription.begin();
            return subscription;
        } catch (SQLException | RuntimeException | Error failure) {
            PreparedSession.evict(connection);
            throw failure;
        }
    }

    private void begin() throws SQLException {
        connection.setNetworkTimeout(Runnable::run, Math.toIntExact(NETWORK_TIMEOUT.toMillis()));
        connection.setAutoCommit(true);
        execute("listen " + channel);
    }

    /**
     * Waits for releases by other instances.
     *
     * @param timeout how long to wait, at least a millisecond
     * @return the names of semaphores of which they have released permits; empty if they have not
     */
    public Set<String> await(Duration timeout) throws SQLException {
        Set<String> released = new HashSet<>();
        PGNotification[] received = driver.getNotifications(Math.toIntExact(timeout.toMillis()));
        for (PGNotification each : received) {
            String payload = each.getParameter();
            if (each.getName().equals(channel) && !payload.startsWith(ownSender)) {
                released.add(payload.substring(payload.indexOf(' ') + 1));
            }
        }
        return released;
    }

    /** Returns the connection to its data source as it was; evicts it if it does not work any more. */
    @Override
    public void close() {
        try {
            execute("unlisten " + channel);
            connection.setAutoCommit(autoCommitBefore);
            connection.setNetworkTimeout(Runnable::run, networkTimeoutBefore);
            connection.close();
        } catch (SQLException | RuntimeException | Error broken) {
            log.debug("The connection that listened for releases is broken; it is evicted", broken);
            PreparedSession.evict(connection);
        }
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
