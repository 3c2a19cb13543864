package io.dbsemaphore.engine;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.SemaphoreAdmin;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.TcpProxy;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** An instance of an application that is about to have bad luck: an engine on a gate on a pool, perhaps on a proxy. */
final class FaultyNode implements AutoCloseable {

    /** How long the pool of a node behind a proxy waits for a connection. */
    static final Duration POOL_TIMEOUT = Duration.ofMillis(500);

    private final HikariDataSource pool;
    private final Remembering connections;
    private final StatementGate gate;
    private final SemaphoreEngine engine;
    private final SemaphoreTemplate semaphores;

    private FaultyNode(HikariConfig config, SemaphoreSettings settings) {
        pool = new HikariDataSource(config);
        connections = new Remembering(pool);
        gate = new StatementGate(connections);
        try {
            engine = new SemaphoreEngine(gate, settings);
        } catch (RuntimeException e) {
            pool.close();
            throw e;
        }
        semaphores = new SemaphoreTemplate(engine.permitManager());
    }

    /** A node without a proxy, with the default settings. */
    static FaultyNode on(Schema schema) {
        return on(schema, TestSettings.defaults());
    }

    static FaultyNode on(Schema schema, SemaphoreSettings settings) {
        return new FaultyNode(config(schema, schema.jdbcUrl(), 5), settings);
    }

    static FaultyNode on(HikariConfig config, SemaphoreSettings settings) {
        return new FaultyNode(config, settings);
    }

    /** A node whose pool does not wait long, so that neither does a test in which the database is away. */
    static FaultyNode behind(TcpProxy proxy, Schema schema, int connections, SemaphoreSettings settings) {
        HikariConfig config = config(schema, schema.jdbcUrl(proxy), connections);
        config.setConnectionTimeout(POOL_TIMEOUT.toMillis());
        config.setValidationTimeout(POOL_TIMEOUT.toMillis() / 2);
        config.setInitializationFailTimeout(Duration.ofSeconds(30).toMillis());
        return new FaultyNode(config, settings);
    }

    /** What a pool of these nodes has; a test may add to it. */
    static HikariConfig config(Schema schema, String url, int connections) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setUsername(schema.username());
        config.setPassword(schema.password());
        config.setMaximumPoolSize(connections);
        return config;
    }

    /** The defaults, but for these. */
    static SemaphoreSettings settings(int lockWaitSeconds, int idleLimitSeconds, int maxAttempts) {
        SemaphoreSettings defaults = TestSettings.defaults();
        return defaults.with(SemaphoreSettings.LOCK_WAIT_TIMEOUT, Duration.ofSeconds(lockWaitSeconds))
                .with(SemaphoreSettings.SESSION_IDLE_LIMIT, Duration.ofSeconds(idleLimitSeconds))
                .with(SemaphoreSettings.MAX_ATTEMPTS, maxAttempts)
                .with(SemaphoreSettings.DECISION_TIMEOUT, defaults.get(SemaphoreSettings.DECISION_TIMEOUT));
    }

    SemaphoreTemplate semaphores() {
        return semaphores;
    }

    SemaphoreAdmin admin() {
        return engine.admin();
    }

    StatementGate gate() {
        return gate;
    }

    /** The pool of the node, for what its host does with it. */
    HikariDataSource pool() {
        return pool;
    }

    /** How often the pool was asked for a connection. */
    int borrowings() {
        return connections.borrowings.get();
    }

    /** Asks on the connection that was borrowed last. Its borrower must be paused at the gate. */
    List<String> askOnLastConnection(String query) {
        return ask(connections.last(), query);
    }

    static List<String> ask(Connection connection, String query) {
        try (Statement statement = connection.createStatement();
                ResultSet answer = statement.executeQuery(query)) {
            answer.next();
            List<String> row = new ArrayList<>();
            for (int column = 1; column <= answer.getMetaData().getColumnCount(); column++) {
                row.add(answer.getString(column));
            }
            return row;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        gate.close();
        engine.close();
        pool.close();
    }

    private static final class Remembering extends DelegatingDataSource {

        private final AtomicInteger borrowings = new AtomicInteger();
        private volatile @Nullable Connection last;

        Remembering(DataSource target) {
            super(target);
        }

        @Override
        public Connection getConnection() throws SQLException {
            borrowings.incrementAndGet();
            Connection connection = super.getConnection();
            last = connection;
            return connection;
        }

        Connection last() {
            return Objects.requireNonNull(last, "no connection was borrowed");
        }
    }
}
