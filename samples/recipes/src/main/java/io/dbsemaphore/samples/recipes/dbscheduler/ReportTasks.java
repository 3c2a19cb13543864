package io.dbsemaphore.samples.recipes.dbscheduler;

import com.github.kagkarlsson.scheduler.task.CompletionHandler.OnCompleteRemove;
import com.github.kagkarlsson.scheduler.task.Task;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.samples.recipes.Work;
import java.time.Duration;
import java.time.Instant;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** A report that finds no permit is executed again later. */
@Configuration
class ReportTasks {

    @Bean
    Task<Void> report(SemaphoreTemplate semaphores, Work work, @Value("${report.retry:10s}") Duration retry) {
        return Tasks.custom("report", Void.class).execute((task, context) -> {
            try {
                semaphores.executeWithoutResult(AcquireRequest.of("reports"), grant -> work.run(task.getId()));
                return new OnCompleteRemove<>();
            } catch (PermitsUnavailableException full) {
                return (complete, operations) ->
                        operations.reschedule(complete, Instant.now().plus(retry));
            }
        });
    }
}
