package io.dbsemaphore.jdbc;

import com.mysql.cj.NativeSession;
import com.mysql.cj.conf.PropertyKey;
import com.mysql.cj.conf.PropertySet;
import com.mysql.cj.jdbc.JdbcConnection;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.ConcurrentLruCache;

/**
 * Sends several statements at once to the sessions of a pool, if possible. A filter of the pool, a proxy or a firewall may reject them even
 * if the driver supports this. The first rejection disables pipelining for this pool, with a warning.
 */
final class Pipelining {

    private static final Logger log = LoggerFactory.getLogger(Pipelining.class);

    private static final Set<Integer> REFUSED_BY_MYSQL = Set.of(
            1064, // syntax error: the text is parsed as one statement
            1148); // command not allowed
    private static final String REFUSED_BY_POSTGRESQL = "42601"; // syntax error

    /** An estimate needs this many answers: the first ones take longer, until the code has been compiled. */
    private static final int SAMPLES = 8;

    private final Database database;
    private final AtomicBoolean on;
    private final boolean mayStayPrepared;
    private int samples;
    private long roundTrip;
    /** The joined texts, by their statements. */
    private final ConcurrentLruCache<List<String>, String> texts =
            new ConcurrentLruCache<>(64, statements -> String.join("; ", statements));

    /**
     * Creates an instance for the sessions of a pool.
     *
     * @param mayStayPrepared whether statements may stay prepared; false if the pool limits the number of open statements
     */
    Pipelining(Database database, boolean wanted, boolean mayStayPrepared) {
        this.database = database;
        this.on = new AtomicBoolean(wanted);
        this.mayStayPrepared = mayStayPrepared;
    }

    /** Enables pipelining in a new session. Returns an action that disables it again, or null if the driver or a rejection rules it out. */
    @Nullable Runnable enable(Connection connection) {
        if (!on.get()) {
            return null;
        }
        try {
            return switch (database) {
                case MYSQL -> ConnectorJ.enable(connection);
                case POSTGRESQL -> PgJdbc.enable(connection);
                // MariaDB reports a lock refused by NOWAIT, which pipelined statements use, as a lock wait timeout
                case MARIADB, H2 -> null;
            };
        } catch (SQLException | RuntimeException | LinkageError unable) {
            // a LinkageError if another driver is used, so that the classes of this one are missing
            log.debug("Statements are sent one by one", unable);
            return null;
        }
    }

    boolean isOn() {
        return on.get();
    }

    /**
     * Records the response time of a request that costs the server nothing. The estimate of a round trip falls at once and rises slowly,
     * because other work on either side may have delayed the answer.
     */
    synchronized void answeredIn(long nanos) {
        roundTrip = samples == 0 ? nanos : Math.min(nanos, roundTrip + roundTrip / 16);
        samples = Math.min(samples + 1, SAMPLES);
    }

    /** Returns how long a round trip takes; 0 until there are enough answers. */
    synchronized long roundTrip() {
        return samples < SAMPLES ? 0 : roundTrip;
    }

    /** Joins the statements into one text. */
    String together(List<String> statements) {
        return texts.get(statements);
    }

    /** Whether statements stay prepared: the driver would otherwise parse a text each time it is prepared. */
    boolean keepsPrepared() {
        return mayStayPrepared && database == Database.MYSQL;
    }

    /** Whether the server, or a proxy, rejected the text because it has several statements. */
    boolean isRefusedByServer(SQLException failure) {
        return database == Database.MYSQL
                ? REFUSED_BY_MYSQL.contains(failure.getErrorCode())
                : REFUSED_BY_POSTGRESQL.equals(failure.getSQLState());
    }

    /** Disables pipelining after a rejection: from then on, statements are sent one by one. */
    void switchOff(SQLException refusal) {
        if (on.compareAndSet(true, false)) {
            log.warn(
                    "The DataSource of the semaphores rejects several statements at once. From now on each takes its own"
                            + " round trip: an acquire takes six instead of two. Allow them in the filter, proxy or"
                            + " firewall, or set semaphore.jdbc.pipelining=false",
                    refusal);
        }
    }

    /** MySQL Connector/J: enables its multi-statement mode while the library uses the session, whatever the URL says. */
    private static final class ConnectorJ {

        private ConnectorJ() {}

        /**
         * Returns null if server-side prepared statements are on, which allow one statement at a time, or if the driver explains slow
         * queries: "explain a; b" executes b.
         */
        static @Nullable Runnable enable(Connection connection) throws SQLException {
            if (!connection.isWrapperFor(JdbcConnection.class)) {
                return null;
            }
            JdbcConnection driver = connection.unwrap(JdbcConnection.class);
            PropertySet properties = driver.getPropertySet();
            if (isSet(properties, PropertyKey.useServerPrepStmts)
                    || isSet(properties, PropertyKey.explainSlowQueries)
                    || !(driver.getSession() instanceof NativeSession session)) {
                return null;
            }
            if (isSet(properties, PropertyKey.allowMultiQueries)) {
                return () -> {};
            }
            session.enableMultiQueries();
            return session::disableMultiQueries;
        }

        private static boolean isSet(PropertySet properties, PropertyKey key) {
            return properties.getBooleanProperty(key).getValue();
        }
    }

    /** PostgreSQL's driver always splits a text into its statements, and sends them with one Sync at the end. */
    private static final class PgJdbc {

        private PgJdbc() {}

        /** Returns null if the driver forces binary values (-1), for which it describes one statement at a time. */
        static @Nullable Runnable enable(Connection connection) throws SQLException {
            return connection.isWrapperFor(PGConnection.class)
                            && connection.unwrap(PGConnection.class).getPrepareThreshold() >= 0
                    ? () -> {}
                    : null;
        }
    }
}
