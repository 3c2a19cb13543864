package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.testing.Concurrently;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The host's pool has one connection, for which the keep-alive waits while the threads of the database wait for the keep-alive. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OnlyConnectionTests {

    private static final Duration LIMIT = Duration.ofSeconds(5);

    private final DatabaseThreads threads = new DatabaseThreads(2, new DaemonThreads());
    private final Semaphore heartbeat = new Semaphore(0);

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void isNotKeptIdleWhileTheKeepAliveWaitsForIt(boolean idleBefore) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:h2:mem:one");
        config.setMaximumPoolSize(1);
        config.setConnectionTimeout(LIMIT.toMillis());
        try (HikariDataSource pool = new HikariDataSource(config);
                Sessions sessions = new Sessions(pool, Database.H2, LIMIT, LIMIT, 2, false, threads)) {
            threads.start();
            threads.execute(heartbeat::acquireUninterruptibly);
            Semaphore begun = new Semaphore(0);
            Semaphore end = new Semaphore(0);
            Semaphore ended = new Semaphore(0);
            threads.execute(() -> {
                for (int i = 0; i < 5; i++) { // so often that the session is kept for the next transaction
                    begin(sessions);
                    if (i == 4) {
                        begun.release();
                        end.acquireUninterruptibly();
                    }
                    end(sessions);
                }
                ended.release();
                heartbeat.acquireUninterruptibly();
            });
            begun.acquire();
            if (idleBefore) {
                end.release();
                ended.acquire();
            }
            Future<Boolean> keepAlive = Concurrently.async(() -> {
                sessions.onReservedConnection(() -> {
                    begin(sessions);
                    end(sessions);
                });
                return true;
            });
            if (!idleBefore) {
                Concurrently.assertWaits(keepAlive);
                end.release();
            }

            assertThat(Concurrently.get(keepAlive)).isTrue();
        } finally {
            heartbeat.release(2);
            threads.stop();
        }
    }

    private static void begin(Sessions sessions) {
        try {
            sessions.begin().commit();
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static void end(Sessions sessions) {
        try {
            sessions.end();
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }
}
