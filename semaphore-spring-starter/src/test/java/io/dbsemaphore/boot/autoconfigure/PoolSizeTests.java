package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreTemplate;
import java.time.Duration;
import org.awaitility.Awaitility;
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
                .contains(
                        "has at most 4 connection(s), and semaphore.max-connections allows the library to use 4 of them")
                .contains("Raise spring.datasource.hikari.maximum-pool-size, or lower semaphore.max-connections");
    }

    @Test
    void doesNotWarnWhereTheApplicationKeepsAConnection(CapturedOutput output) {
        Hosts.jdbc()
                .withPropertyValues("spring.datasource.hikari.maximum-pool-size=3", "semaphore.max-connections=2")
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
