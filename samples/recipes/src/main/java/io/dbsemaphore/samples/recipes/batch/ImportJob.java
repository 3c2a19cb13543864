package io.dbsemaphore.samples.recipes.batch;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.samples.recipes.Work;
import java.time.Duration;
import org.springframework.batch.core.job.Job;
import org.springframework.batch.core.job.builder.JobBuilder;
import org.springframework.batch.core.partition.support.SimplePartitioner;
import org.springframework.batch.core.repository.JobRepository;
import org.springframework.batch.core.step.Step;
import org.springframework.batch.core.step.builder.StepBuilder;
import org.springframework.batch.infrastructure.repeat.RepeatStatus;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.transaction.PlatformTransactionManager;

/** One download at a time, and three partitions of all imports together. */
@Configuration
class ImportJob {

    private static final AcquireRequest DOWNLOAD = AcquireRequest.of("download").withWaitTime(Duration.ofHours(1));
    private static final AcquireRequest PARTITION = AcquireRequest.of("import").withWaitTime(Duration.ofHours(1));

    @Bean
    Job importAll(
            JobRepository jobs, PlatformTransactionManager transactions, SemaphoreTemplate semaphores, Work work) {
        Step download = new StepBuilder("download", jobs)
                .tasklet((contribution, chunk) -> run(work, "download"), transactions)
                .listener(new StepPermits(semaphores, DOWNLOAD))
                .build();
        Step partition = new StepBuilder("partition", jobs)
                .tasklet(
                        (contribution, chunk) ->
                                run(work, chunk.getStepContext().getStepName()),
                        transactions)
                .listener(new StepPermits(semaphores, PARTITION))
                .build();
        Step partitions = new StepBuilder("partitions", jobs)
                .partitioner("partition", new SimplePartitioner())
                .step(partition)
                .gridSize(2)
                .taskExecutor(new SimpleAsyncTaskExecutor("import-"))
                .build();
        return new JobBuilder("import", jobs).start(download).next(partitions).build();
    }

    private static RepeatStatus run(Work work, String item) {
        work.run(item);
        return RepeatStatus.FINISHED;
    }
}
