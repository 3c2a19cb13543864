package io.dbsemaphore.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
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

    private final SemaphoreDataSource sessions;
    private final String name;
    private final String sender = UUID.randomUUID().toString() + ' ';

    private ReleaseChannel(SemaphoreDataSource sessions, String name) {
        this.sessions = sessions;
        this.name = name;
    }

    /**
     * The channel of the tables with this prefix; empty unless the database and its driver are PostgreSQL's.
     *
     * @param tablePrefix up to 30 letters, digits and underscores. PostgreSQL folds the names of the tables to lower case, and
     *     so is the name of the channel, which {@code pg_notify} would take as it is
     */
    public static Optional<ReleaseChannel> of(SemaphoreDataSource sessions, Database database, String tablePrefix) {
        return database == Database.POSTGRESQL && POSTGRESQL_DRIVER
                ? Optional.of(new ReleaseChannel(sessions, tablePrefix.toLowerCase(Locale.ROOT) + "semaphore_released"))
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
        return ReleaseSubscription.on(
                Objects.requireNonNull(sessions.getTargetDataSource()).getConnection(), name, sender);
    }

    /** Whether the library has waited for a connection for this long, while a subscription may have the last one. */
    public boolean isPoolExhaustedFor(Duration time) {
        return sessions.isExhaustedFor(time);
    }
}
