package io.dbsemaphore.samples.recipes.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.samples.recipes.CountedWork;
import io.dbsemaphore.samples.recipes.Instances;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.Slow;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.springframework.batch.core.BatchStatus;
import org.springframework.batch.core.job.Job;
import org.springframework.batch.core.job.JobExecution;
import org.springframework.batch.core.job.builder.JobBuilder;
import org.springframework.batch.core.job.parameters.JobParameters;
import org.springframework.batch.core.job.parameters.JobParametersBuilder;
import org.springframework.batch.core.launch.JobOperator;
import org.springframework.batch.core.repository.JobRepository;
import org.springframework.batch.core.step.Step;
import org.springframework.batch.core.step.builder.StepBuilder;
import org.springframework.batch.infrastructure.repeat.RepeatStatus;

/** The jobs of two instances have four partitions together. */
@Slow
class BatchRecipeIntegrationTests {

    @Test
    void oneJobDownloadsAndThreePartitionsImport() throws Exception {
        try (Instances instances = Instances.of("batch", "spring.batch.job.enabled=false")) {
            CountedWork work = instances.work();
            Future<JobExecution> first = start(instances, 0);
            work.awaitFull("download", 1, () -> true);
            Future<JobExecution> second = start(instances, 1);
            work.awaitFull("download", 1, () -> instances.waiting("download") == 1);
            work.end("download");

            work.awaitFull("partition", 3, () -> instances.waiting("import") == 1);
            work.end("partition");
            assertThat(Concurrently.get(first, Instances.SOON).getStatus()).isEqualTo(BatchStatus.COMPLETED);
            assertThat(Concurrently.get(second, Instances.SOON).getStatus()).isEqualTo(BatchStatus.COMPLETED);
            assertThat(work.done("download")).hasSize(2);
            assertThat(work.peak("download")).isEqualTo(1);
            assertThat(work.done("partition")).hasSize(4);
            assertThat(work.peak("partition")).isEqualTo(3);

            failsWithoutPermitAndIsRestarted(instances);
        }
    }

    private static void failsWithoutPermitAndIsRestarted(Instances instances) throws Exception {
        Step step = new StepBuilder("late", instances.bean(0, JobRepository.class))
                .tasklet((contribution, chunk) -> {
                    instances.work().run("instance-0", "late");
                    return RepeatStatus.FINISHED;
                })
                .listener(new StepPermits(instances.bean(0, SemaphoreTemplate.class), AcquireRequest.of("download")))
                .build();
        Job job = new JobBuilder("late", instances.bean(0, JobRepository.class))
                .start(step)
                .build();
        JobOperator operator = instances.bean(0, JobOperator.class);
        instances.work().end("late");

        try (PermitGrant grant = instances.bean(1, SemaphoreTemplate.class).acquire(AcquireRequest.of("download"))) {
            assertThat(operator.start(job, new JobParameters()).getStatus()).isEqualTo(BatchStatus.FAILED);
            assertThat(grant.isHeld()).isTrue();
        }
        assertThat(instances.work().done("late")).isEmpty();
        assertThat(operator.start(job, new JobParameters()).getStatus()).isEqualTo(BatchStatus.COMPLETED);
        assertThat(instances.work().done("late")).hasSize(1);
    }

    private static Future<JobExecution> start(Instances instances, int instance) {
        return Concurrently.async(() -> instances
                .bean(instance, JobOperator.class)
                .start(
                        instances.bean(instance, Job.class),
                        new JobParametersBuilder()
                                .addLong("instance", (long) instance)
                                .toJobParameters()));
    }
}
