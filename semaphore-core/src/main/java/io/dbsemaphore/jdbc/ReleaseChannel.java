package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.UUID;
import javax.sql.DataSource;
import org.springframework.util.ClassUtils;

/**
 * A channel of PostgreSQL on which instances tell one another that they have released permits. What is received is a hint to ask
 * the database at once: notifications may be lost, or come twice.
 *
 * @see <a href="https://www.postgresql.org/docs/current/sql-notify.html">PostgreSQL: NOTIFY</a>
 */
public final class ReleaseChannel {

    private static final boolean POSTGRESQL_DRIVER =
            ClassUtils.isPresent("org.postgresql.PGConnection", ReleaseChannel.class.getClassLoader());

    private final DataSource host;
    private final String name;
    private final String sender = UUID.randomUUID().toString() + ' ';

    private ReleaseChannel(DataSource host, String name) {
        this.host = host;
        this.name = name;
    }

    /**
     * The channel of the tables with this prefix; empty unless the database and its driver are PostgreSQL's.
     *
     * @param tablePrefix letters, digits and underscores
     */
    public static Optional<ReleaseChannel> of(DataSource host, Database database, String tablePrefix) {
        return database == Database.POSTGRESQL && POSTGRESQL_DRIVER
                ? Optional.of(new ReleaseChannel(
                        SemaphoreDataSource.outsideOfHostTransactions(host), tablePrefix + "semaphore_released"))
                : Optional.empty();
    }

    /**
     * SQL that notifies the other instances when the transaction commits.
     *
     * @param semaphore an expression for the name of the semaphore
     */
    public String notification(String semaphore) {
        return "pg_notify('" + name + "', '" + sender + "' || " + semaphore + ")";
    }

    /**
     * Listens to the other instances, on a connection of the application's data source.
     *
     * @throws java.sql.SQLFeatureNotSupportedException if the connection is not one of PostgreSQL's driver
     * @throws SQLException if the database cannot be reached
     */
    public ReleaseSubscription subscribe() throws SQLException {
        Connection connection = host.getConnection();
        try {
            return new ReleaseSubscription(connection, name, sender);
        } catch (SQLException | RuntimeException | Error failure) {
            try (connection) {
                throw failure;
            }
        }
    }
}
