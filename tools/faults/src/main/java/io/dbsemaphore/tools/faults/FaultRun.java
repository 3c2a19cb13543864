package io.dbsemaphore.tools.faults;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.tools.faults.attack.Attacks;
import io.dbsemaphore.tools.faults.attack.DatabaseServer;
import io.dbsemaphore.tools.faults.attack.FakeTime;
import io.dbsemaphore.tools.faults.oracle.Findings;
import io.dbsemaphore.tools.faults.oracle.Oracle;
import io.dbsemaphore.tools.faults.oracle.OracleServer;
import io.dbsemaphore.tools.faults.report.Report;
import io.dbsemaphore.tools.faults.witness.CommitLog;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;

/** One run: creates the tables, lets the clients work under attack, then looks at what is left, and reports. */
final class FaultRun {

    private static final Duration CALM = Duration.ofSeconds(5);
    private static final int ATTEMPTS = 3;

    private final Options options;
    private final DatabaseServer server;
    private final PrintStream out;
    private final Findings findings = new Findings();
    private final Map<String, Integer> capacities;
    private final Map<String, Integer> created;
    private final Oracle oracle;

    /** @param wrong capacities with which semaphores are created, to see that the run fails if they are exceeded */
    FaultRun(Options options, DatabaseServer server, PrintStream out, Map<String, Integer> wrong) {
        this.options = options;
        this.server = server;
        this.out = out;
        capacities = Workload.capacities(options.clients(), options.sets());
        created = new TreeMap<>(capacities);
        created.putAll(wrong);
        oracle = new Oracle(
                capacities,
                Workload.allReused(options.sets()),
                options.instanceTimeout(),
                options.tolerance(),
                findings);
    }

    /** Returns what it has shown; the files are written. */
    Report run() throws Exception {
        Path logs = Files.createDirectories(options.output());
        out.printf("On %s, %s%n", product(), options.repeating());
        if (options.stepsClientClocks() && !FakeTime.isInstalled()) {
            out.println("Without steps of clocks: there is no " + FakeTime.LIBRARY);
        }
        prepare();
        CommitLog log = commitLog();
        createSemaphores();
        try (OracleServer oracleServer = new OracleServer(oracle, logs.resolve("events.tsv.gz"));
                Attacks attacks = new Attacks(server, oracle, oracleServer, options.plan(FakeTime.isInstalled()))) {
            attacks.begin();
            Thread.sleep(options.duration().toMillis());
            attacks.end();
            Thread.sleep(CALM.toMillis());
            attacks.stopClients();
            attacks.failures().forEach(failure -> out.println("An attack failed: " + failure));
            Report report = finish(log, attacks.failures().isEmpty());
            report.write(logs);
            report.markdown().forEach(out::println);
            out.println("Files: " + logs.toAbsolutePath());
            return report;
        }
    }

    private @Nullable CommitLog commitLog() {
        try {
            return CommitLog.from(server, Workload.TABLE_PREFIX);
        } catch (SQLException unreadable) {
            out.println("Without the second witness: " + unreadable.getMessage());
            return null;
        }
    }

    private Report finish(@Nullable CommitLog log, boolean complete) throws Exception {
        oracle.finish();
        Duration free;
        try (HikariDataSource pool = pool();
                SemaphoreEngine engine = engine(pool)) {
            FinalCheck check = new FinalCheck(
                    new SemaphoreTemplate(engine.permitManager()),
                    findings,
                    Workload.KEPT_ALIVE.plus(options.instanceTimeout()));
            free = check.acquireAll(capacities.keySet());
            check.find(oracle.unknown());
        }
        long commits = log == null ? 0 : log.replay(capacities, findings);
        return new Report(
                product(),
                options.repeating(),
                options.duration(),
                oracle.figures(),
                findings,
                free,
                commits,
                complete && (log == null || commits > 0));
    }

    private void prepare() throws Exception {
        try (HikariDataSource pool = pool()) {
            Tables tables = new Tables(pool);
            tables.dropAll();
            tables.create();
        }
    }

    /** A first start in a JVM that is short of processors can take longer than the server lets a transaction be idle. */
    private void createSemaphores() {
        for (int attempt = 1; true; attempt++) {
            try (HikariDataSource pool = pool();
                    SemaphoreEngine engine = engine(pool)) {
                created.forEach((name, capacity) -> engine.admin().create(name, capacity));
                return;
            } catch (DataAccessException failure) {
                if (attempt == ATTEMPTS) {
                    throw failure;
                }
            }
        }
    }

    private SemaphoreEngine engine(HikariDataSource pool) {
        return new SemaphoreEngine(
                pool, SemaphoreSettings.defaults().with(SemaphoreSettings.TABLE_PREFIX, Workload.TABLE_PREFIX));
    }

    private HikariDataSource pool() {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(server.url());
        pool.setUsername(server.user());
        pool.setPassword(server.password());
        pool.setMaximumPoolSize(4);
        return pool;
    }

    private String product() throws Exception {
        try (Connection connection = server.connect()) {
            DatabaseMetaData product = connection.getMetaData();
            return product.getDatabaseProductName() + " " + product.getDatabaseProductVersion();
        }
    }
}
