package io.dbsemaphore.tools.benchmark;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.tools.benchmark.approach.Approach;
import io.dbsemaphore.tools.benchmark.approach.DbSemaphoreLimiter;
import io.dbsemaphore.tools.benchmark.approach.Limiter;
import io.dbsemaphore.tools.benchmark.approach.Tables;
import io.dbsemaphore.tools.benchmark.approach.Target;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Consumer;

/**
 * The cases of one scenario that this JVM measures. The first JVM creates their tables, semaphores and rows. Since they are
 * measured in turn, all approaches without a pool of their own share one: with a connection for each thread, at READ COMMITTED.
 */
final class OpenScenario implements AutoCloseable {

    private final Target target;
    private final int jvm;
    private final int threads;
    private final double activity;
    private final HikariDataSource shared;
    private final Map<Case, Opened> opened = new HashMap<>();
    private final Deque<AutoCloseable> toClose = new ArrayDeque<>();
    private int round;

    /** @param jvm from 0 */
    OpenScenario(Target target, Scenario scenario, List<Case> cases, int jvm) throws Exception {
        this.target = target;
        this.jvm = jvm;
        threads = scenario.threads();
        activity = scenario.activity(jvm);
        shared = pool("shared", threads, config -> config.setTransactionIsolation("TRANSACTION_READ_COMMITTED"));
        for (Case measured : cases) {
            opened.put(measured, open(measured));
            if (jvm == 0 && !measured.hasRowsOfEachRound()) {
                prepare(measured, 0).close();
            }
        }
    }

    Measurement run(Case measured, Duration length, Callable<?> start) throws Exception {
        round++;
        try (AutoCloseable rows = measured.hasRowsOfEachRound() ? prepare(measured, round) : () -> {}) {
            return new Round(opened(measured), measured, measured.semaphores(round), length, activity).run(start);
        }
    }

    @Override
    public void close() throws Exception {
        while (!toClose.isEmpty()) {
            toClose.pop().close();
        }
    }

    private Opened open(Case measured) throws Exception {
        HikariDataSource pool = shared;
        Approach approach = measured.approach();
        if (approach.usesLibraryTables()) {
            if (jvm == 0) {
                new Tables(shared).createLibraryTables(measured.tablePrefix());
            }
            pool = pool(approach.id(), Math.max(threads, 4), config -> {
                config.setMinimumIdle(2);
                approach.configure(config);
            });
        }
        Limiter limiter =
                approach.open(pool, measured.tablePrefix(), measured.scenario().demands(), target, jvm);
        toClose.push(limiter);
        return new Opened(limiter, pool);
    }

    private HikariDataSource pool(String name, int size, Consumer<HikariConfig> settings) {
        HikariDataSource pool = target.pool(name, size, settings);
        toClose.push(pool);
        return pool;
    }

    private AutoCloseable prepare(Case measured, int round) throws Exception {
        Limiter limiter = opened(measured).limiter();
        List<Long> semaphores = measured.semaphores(round);
        for (long semaphore : semaphores) {
            limiter.prepare(semaphore, measured.capacity());
        }
        return limiter instanceof DbSemaphoreLimiter library
                ? LibraryRows.create(target, measured, library, semaphores.get(0))
                : () -> {};
    }

    private Opened opened(Case measured) {
        return Objects.requireNonNull(opened.get(measured), measured.title());
    }

    /** A limiter and the pool that it uses. */
    record Opened(Limiter limiter, HikariDataSource pool) {

        int connectionsInUse() {
            return pool.getHikariPoolMXBean().getActiveConnections();
        }
    }
}
