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

    private final Connection connection;
    private final PGConnection driver;
    private final String channel;
    private final String ownSender;
    private final boolean autoCommitBefore;

    ReleaseSubscription(Connection connection, String channel, String ownSender) throws SQLException {
        if (!connection.isWrapperFor(PGConnection.class)) {
            throw new SQLFeatureNotSupportedException(
                    connection.getClass() + " is not a connection of PostgreSQL's driver");
        }
        this.connection = connection;
        this.driver = connection.unwrap(PGConnection.class);
        this.channel = channel;
        this.ownSender = ownSender;
        this.autoCommitBefore = connection.getAutoCommit();
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

    /** Returns the connection to its data source. */
    @Override
    public void close() {
        try (connection) {
            execute("unlisten " + channel);
            connection.setAutoCommit(autoCommitBefore);
        } catch (SQLException broken) {
            log.debug("The connection that listened for releases is broken", broken);
        }
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
