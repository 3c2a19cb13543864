package io.dbsemaphore.samples.recipes.quartz;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.samples.recipes.Work;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import org.quartz.Job;
import org.quartz.JobExecutionContext;
import org.quartz.JobExecutionException;
import org.quartz.SchedulerException;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;
import org.springframework.beans.factory.annotation.Value;

/** A report that finds no permit gets a further trigger. */
class ReportJob implements Job {

    private final SemaphoreTemplate semaphores;
    private final Work work;
    private final Duration retry;

    ReportJob(SemaphoreTemplate semaphores, Work work, @Value("${report.retry:10s}") Duration retry) {
        this.semaphores = semaphores;
        this.work = work;
        this.retry = retry;
    }

    @Override
    public void execute(JobExecutionContext context) throws JobExecutionException {
        String report = context.getMergedJobDataMap().getString("report");
        try {
            semaphores.executeWithoutResult(AcquireRequest.of("reports"), grant -> work.run(report));
        } catch (PermitsUnavailableException full) {
            tryLater(context);
        }
    }

    private void tryLater(JobExecutionContext context) throws JobExecutionException {
        Trigger later = TriggerBuilder.newTrigger()
                .forJob(context.getJobDetail())
                .usingJobData(context.getTrigger().getJobDataMap())
                .startAt(Date.from(Instant.now().plus(retry)))
                .build();
        try {
            context.getScheduler().scheduleJob(later);
        } catch (SchedulerException failure) {
            throw new JobExecutionException(failure);
        }
    }
}
