package io.dbsemaphore.engine.hold;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.DatabaseThreads;
import io.dbsemaphore.jdbc.Sessions;
import java.lang.management.ManagementFactory;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the keep-alive takes from the application: a connection of a small pool, and processor time. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KeepAliveConnectionTests {

    private static final Duration LIMIT = Duration.ofSeconds(5);

    @Test
    void isReturnedSoonToAPoolOfTwo() throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:h2:mem:two");
        config.setMaximumPoolSize(2);
        DaemonThreads threads = new DaemonThreads();
        try (HikariDataSource pool = new HikariDataSource(config);
                Sessions sessions =
                        new Sessions(pool, Database.H2, LIMIT, LIMIT, 4, false, new DatabaseThreads(4, threads));
                KeepAlive keepAlive = keepAlive(sessions, threads)) {
            keepAlive.start();
            Duration shortest = LIMIT;
            for (int i = 0; i < 5; i++) { // other processes of the machine delay some of them
                CompletableFuture<Long> used = new CompletableFuture<>();
                keepAlive.execute("use of the connection", () -> used.complete(use(sessions)));
                long since = used.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
                Awaitility.await("the return of the connection")
                        .pollInterval(Duration.ofMillis(1))
                        .until(() -> pool.getHikariPoolMXBean().getActiveConnections() == 0);
                Duration kept = Duration.ofNanos(System.nanoTime() - since);
                shortest = kept.compareTo(shortest) < 0 ? kept : shortest;
            }

            assertThat(shortest).isLessThan(Duration.ofMillis(150));
        }
    }

    @Test
    void takesNoTurnsWithoutGrants() {
        JdbcDataSource dataSource = new JdbcDataSource();
        dataSource.setURL("jdbc:h2:mem:idle");
        CompletableFuture<Thread> started = new CompletableFuture<>();
        DaemonThreads threads = new DaemonThreads() {
            @Override
            public Thread create(String name, Runnable task) {
                Thread thread = super.create(name, task);
                started.complete(thread);
                return thread;
            }
        };
        try (Sessions sessions =
                        new Sessions(dataSource, Database.H2, LIMIT, LIMIT, 4, false, new DatabaseThreads(4, threads));
                KeepAlive keepAlive = keepAlive(sessions, threads)) {
            keepAlive.start();
            for (long requestId = 1; requestId <= 2; requestId++) { // the turns begin again
                keepAlive.watch(grant(requestId));
                Awaitility.await("turns").until(() -> isActive(started.join()));

                keepAlive.stop(requestId);
                Awaitility.await("the end of the turns").until(() -> !isActive(started.join()));
            }
        }
    }

    /** Whether the thread takes turns: it works at least once within some pauses. */
    private static boolean isActive(Thread thread) throws InterruptedException {
        long before = ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.getId());
        TimeUnit.NANOSECONDS.sleep(InstanceLease.PAUSE.multipliedBy(5).toNanos());
        return ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.getId()) > before;
    }

    private static GrantHandle grant(long requestId) {
        Instant now = Instant.now();
        Duration ttl = Duration.ofHours(1);
        StoredGrant stored =
                new StoredGrant(requestId, "watched", "owner", null, List.of(), ttl, now, now.plus(ttl), now);
        return new GrantHandle(new HeldGrant(stored, System.nanoTime()), false, null);
    }

    private static KeepAlive keepAlive(Sessions sessions, DaemonThreads threads) {
        return new KeepAlive(
                new KeepAlive.Collaborators(
                        sessions, null, null, new GrantRegistry(), lost -> {}, Runnable::run, LIMIT, LIMIT),
                threads);
    }

    private static long use(Sessions sessions) {
        try {
            for (int i = 0; i < 6; i++) {
                sessions.begin().commit();
                sessions.end();
            }
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
        return System.nanoTime();
    }
}
