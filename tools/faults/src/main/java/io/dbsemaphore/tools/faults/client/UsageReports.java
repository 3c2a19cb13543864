package io.dbsemaphore.tools.faults.client;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.tools.faults.Workload;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.TransactionException;

/** Tells the oracle now and then what this process uses, so that growth shows. */
final class UsageReports implements Runnable {

    private static final long SECONDS = 5;

    private final Caller caller;
    private final HikariDataSource pool;
    private final CountDownLatch stopped;

    UsageReports(Caller caller, HikariDataSource pool, CountDownLatch stopped) {
        this.caller = caller;
        this.pool = pool;
        this.stopped = stopped;
    }

    @Override
    public void run() {
        try {
            while (!stopped.await(SECONDS, TimeUnit.SECONDS)) {
                caller.tellUsage(usage());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Map<String, Long> usage() {
        System.gc();
        Map<String, Long> usage = new TreeMap<>();
        usage.put("threads", (long) ManagementFactory.getThreadMXBean().getThreadCount());
        usage.put("connections", (long) pool.getHikariPoolMXBean().getTotalConnections());
        usage.put(
                "heap KiB",
                ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() >> 10);
        try {
            String query = "select count(*) from " + Workload.TABLE_PREFIX + "semaphore_waiter";
            usage.put("waiter rows", Objects.requireNonNull(new JdbcTemplate(pool).queryForObject(query, Long.class)));
        } catch (DataAccessException | TransactionException underAttack) {
            // Not this time
        }
        return usage;
    }
}
