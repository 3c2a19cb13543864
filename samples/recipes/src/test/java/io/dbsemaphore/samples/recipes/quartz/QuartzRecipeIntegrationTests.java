package io.dbsemaphore.samples.recipes.quartz;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.samples.recipes.CountedWork;
import io.dbsemaphore.samples.recipes.Instances;
import io.dbsemaphore.testing.Slow;
import org.junit.jupiter.api.Test;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.TriggerBuilder;

/** Neither of the instances alone has the threads for three reports at a time. */
@Slow
class QuartzRecipeIntegrationTests {

    private static final int REPORTS = 7;

    @Test
    void executesThreeReportsAtATimeAndTheOthersLater() throws SchedulerException {
        try (Instances instances = Instances.of(
                "quartz",
                "report.retry=100ms",
                "spring.quartz.properties.org.quartz.threadPool.threadCount=2",
                "spring.quartz.properties.org.quartz.scheduler.idleWaitTime=1000")) {
            CountedWork work = instances.work();
            for (int i = 0; i < REPORTS; i++) {
                instances
                        .bean(0, Scheduler.class)
                        .scheduleJob(TriggerBuilder.newTrigger()
                                .forJob("report")
                                .usingJobData("report", "report:" + i)
                                .build());
            }

            work.awaitFull("report", 3, () -> instances.refused() >= REPORTS);
            work.end("report");
            work.awaitDone("report", REPORTS);
            assertThat(work.done("report")).doesNotHaveDuplicates();
            assertThat(work.peak("report")).isEqualTo(3);
        }
    }
}
