package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.StatementGate;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class PoolSizeTests {

    @Test
    void warnsWhereTheLibraryMayTakeTheWholePool(CapturedOutput output) {
        Hosts.jdbc()
                .withPropertyValues("spring.datasource.hikari.maximum-pool-size=4")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .contains("WARN")
                .contains("has at most 4 connection(s), and semaphore.jdbc.max-connections lets them use 4")
                .contains("Raise spring.datasource.hikari.maximum-pool-size, or lower semaphore.jdbc.max-connections");
    }

    @Test
    void doesNotWarnWhereTheApplicationKeepsAConnection(CapturedOutput output) {
        Hosts.jdbc()
                .withPropertyValues("spring.datasource.hikari.maximum-pool-size=3", "semaphore.jdbc.max-connections=2")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).doesNotContain("WARN");
    }

    /** A transactional method that holds a permit needs the last connection itself. */
    @Test
    void keepsNoConnectionOfASmallPool() {
        Hosts.jdbc()
                .withPropertyValues("spring.datasource.hikari.maximum-pool-size=2", "semaphore.semaphores.s.capacity=1")
                .run(context -> context.getBean(SemaphoreTemplate.class)
                        .executeWithoutResult(
                                AcquireRequest.of("s"),
                                grant -> Awaitility.await("no connection in use while the permit is held")
                                        .during(Duration.ofSeconds(1))
                                        .atMost(Duration.ofSeconds(10))
                                        .until(() -> context.getBean(HikariDataSource.class)
                                                        .getHikariPoolMXBean()
                                                        .getActiveConnections()
                                                == 0)));
    }

    /** It waits for the engine to start, which has its threads then. */
    @Test
    void leavesNoThreadWhereTheDatabaseFailsAfterTheEngineHasStarted() throws Exception {
        Set<Thread> before = threads();
        String lastTable = "delete from semaphore_share where semaphore_id = 0";
        HikariConfig single = new HikariConfig();
        single.setJdbcUrl("jdbc:h2:mem:%s;DB_CLOSE_DELAY=-1".formatted(UUID.randomUUID()));
        single.setMaximumPoolSize(1);
        try (HikariDataSource pool = new HikariDataSource(single);
                StatementGate gate = new StatementGate(pool)) {
            StatementGate.Pause checkedByTheStart = gate.pauseAfter(lastTable);
            Future<@Nullable Throwable> failure = Concurrently.async(() -> {
                AtomicReference<@Nullable Throwable> found = new AtomicReference<>();
                Hosts.jdbc()
                        .withBean(DataSource.class, () -> gate)
                        .run(context -> found.set(context.getStartupFailure()));
                return found.get();
            });
            checkedByTheStart.awaitReached(Duration.ofSeconds(30));
            gate.failBefore(lastTable, new SQLException("The disk is full"));
            checkedByTheStart.open();

            assertThat(Concurrently.get(failure)).hasStackTraceContaining("The disk is full");
            Awaitility.await("the end of the threads of the engine")
                    .atMost(Duration.ofSeconds(20))
                    .untilAsserted(() -> assertThat(before).containsAll(threads()));
        }
    }

    private static Set<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("semaphore-"))
                .collect(Collectors.toSet());
    }

    @Test
    void keepsAConnectionWhileAGrantIsKeptAlive() {
        Hosts.jdbc()
                .withPropertyValues("semaphore.semaphores.s.capacity=1")
                .run(context -> context.getBean(SemaphoreTemplate.class)
                        .executeWithoutResult(
                                AcquireRequest.of("s"),
                                grant -> Awaitility.await("the connection of the keep-alive")
                                        .during(Duration.ofSeconds(1))
                                        .atMost(Duration.ofSeconds(10))
                                        .until(() -> context.getBean(HikariDataSource.class)
                                                        .getHikariPoolMXBean()
                                                        .getActiveConnections()
                                                == 1)));
    }
}
