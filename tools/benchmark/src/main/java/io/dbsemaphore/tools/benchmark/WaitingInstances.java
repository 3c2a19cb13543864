package io.dbsemaphore.tools.benchmark;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.tools.benchmark.approach.Approach;
import io.dbsemaphore.tools.benchmark.approach.DbSemaphoreLimiter;
import io.dbsemaphore.tools.benchmark.approach.Demands;
import io.dbsemaphore.tools.benchmark.approach.Limiter;
import io.dbsemaphore.tools.benchmark.approach.Tables;
import io.dbsemaphore.tools.benchmark.approach.Target;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * How often 16 instances of the library ask a MySQL server who waits, while their callers wait for the only permit of a semaphore.
 * The instances are engines in this process, each with a pool of its own: 16 JVMs would need more memory than they show.
 */
final class WaitingInstances implements AutoCloseable {

    private static final List<Integer> CALLERS = List.of(1, 8);
    private static final String TABLES = Tables.PREFIX + "wait_";

    private final Deque<AutoCloseable> toClose = new ArrayDeque<>();
    private final List<DbSemaphoreLimiter> instances = new ArrayList<>();
    private final SentStatements reads;
    private final Duration length;

    WaitingInstances(int count, Target target, HikariDataSource tables, Duration length) throws Exception {
        this.reads = new SentStatements(tables, "SELECT %" + TABLES + "semaphore_waiter%");
        this.length = length;
        new Tables(tables).createLibraryTables(TABLES);
        for (int i = 0; i < count; i++) {
            HikariDataSource pool = target.pool("instance-" + i, 4, config -> config.setMinimumIdle(1));
            toClose.push(pool);
            DbSemaphoreLimiter instance =
                    (DbSemaphoreLimiter) Approach.DB_SEMAPHORE.open(pool, TABLES, new Demands(false, true), target, i);
            toClose.push(instance);
            instances.add(instance);
        }
    }

    /** The lines of a table. */
    List<String> measure() throws Exception {
        MarkdownTable table = new MarkdownTable(
                instances.size() + " instances waiting",
                " polls/s, permit held",
                " polls/s, handed over",
                " hand-overs/s");
        for (int callers : CALLERS) {
            table.add(measure(callers));
        }
        return table.lines();
    }

    private String[] measure(int callers) throws Exception {
        instances.get(0).prepare(callers, 1);
        PermitGrant held = instances.get(0).acquireWithoutTtl(callers);
        LongAdder pairs = new LongAdder();
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < instances.size() * callers; i++) {
                Limiter instance = instances.get(i % instances.size());
                all.add(threads.submit(() -> acquireAndRelease(instance, callers, pairs)));
            }
            while (instances.get(0).waiting(callers) < all.size()) {
                throwFailures(all);
                TimeUnit.MILLISECONDS.sleep(100);
            }
            double whileHeld = reads.perSecond(length);
            held.release();
            long before = pairs.sum();
            double handedOver = reads.perSecond(length);
            throwFailures(all);
            double pairsPerSecond = (pairs.sum() - before) * 1e9 / length.toNanos();
            return new String[] {
                callers == 1 ? "1 caller each" : callers + " callers each",
                format(whileHeld),
                format(handedOver),
                format(pairsPerSecond)
            };
        } finally {
            threads.shutdownNow();
        }
    }

    @Override
    public void close() throws Exception {
        while (!toClose.isEmpty()) {
            toClose.pop().close();
        }
    }

    private static String format(double perSecond) {
        return String.format(Locale.ROOT, "%,.0f", perSecond);
    }

    /** None of them ends by itself. */
    private static void throwFailures(List<Future<?>> callers) throws Exception {
        for (Future<?> caller : callers) {
            if (caller.isDone()) {
                var unused = caller.get();
            }
        }
    }

    /** Until its thread is interrupted. */
    private static Void acquireAndRelease(Limiter instance, long semaphore, LongAdder pairs) throws Exception {
        while (true) {
            instance.acquire(List.of(semaphore)).release();
            pairs.increment();
        }
    }
}
