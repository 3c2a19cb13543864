package io.dbsemaphore.engine.hold;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.DatabaseThreads;
import io.dbsemaphore.jdbc.Sessions;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the keep-alive leaves to the application of a small pool. */
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
                KeepAlive keepAlive = new KeepAlive(
                        sessions,
                        null,
                        null,
                        new GrantRegistry(),
                        new ListenerNotifier(List::of),
                        threads,
                        Runnable::run,
                        LIMIT,
                        LIMIT)) {
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
