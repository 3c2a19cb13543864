package io.dbsemaphore.tools.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.tools.benchmark.approach.Target;
import java.time.Duration;
import org.junit.jupiter.api.Test;

@Slow
@EnabledOnDatabase(DatabaseKind.MYSQL)
class WaitingInstancesIntegrationTests {

    @Test
    void countsWhatTheServerIsAsked() throws Exception {
        try (TestDatabase.Schema database = TestDatabase.createForProcesses()) {
            Target target = new Target(database.jdbcUrl(), database.username(), database.password(), null);
            try (HikariDataSource tables = target.pool("tables", 2);
                    WaitingInstances instances = new WaitingInstances(3, target, tables, Duration.ofSeconds(3))) {
                assertThat(instances.measure())
                        .hasSize(4)
                        .last()
                        .asString()
                        .matches("\\| 8 callers each +(\\| +[1-9]\\d* ){3}\\|");
            }
        }
    }
}
