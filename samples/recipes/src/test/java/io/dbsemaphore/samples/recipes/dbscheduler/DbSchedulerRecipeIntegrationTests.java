package io.dbsemaphore.samples.recipes.dbscheduler;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.kagkarlsson.scheduler.SchedulerClient;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import io.dbsemaphore.samples.recipes.CountedWork;
import io.dbsemaphore.samples.recipes.Instances;
import io.dbsemaphore.testing.Slow;
import java.time.Instant;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Neither of the instances alone has the threads for three reports at a time. */
@Slow
class DbSchedulerRecipeIntegrationTests {

    private static final int REPORTS = 7;

    @Test
    void executesThreeReportsAtATimeAndTheOthersLater() {
        try (Instances instances = Instances.of(
                "dbscheduler",
                "db-scheduler.threads=2",
                "db-scheduler.polling-interval=200ms",
                "report.retry=100ms",
                "spring.sql.init.mode=always",
                "spring.sql.init.schema-locations=classpath:scheduled_tasks.sql")) {
            CountedWork work = instances.work();
            SchedulerClient scheduler = instances.bean(0, SchedulerClient.class);
            IntStream.range(0, REPORTS)
                    .forEach(i -> scheduler.scheduleIfNotExists(
                            new TaskInstance<Void>("report", "report:" + i), Instant.now()));

            work.awaitFull("report", 3, () -> instances.refused() >= REPORTS);
            work.end("report");
            work.awaitDone("report", REPORTS);
            assertThat(work.done("report")).doesNotHaveDuplicates();
            assertThat(work.peak("report")).isEqualTo(3);
        }
    }
}
