package io.dbsemaphore.samples.recipes.quartz;

import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration
class ReportJobs {

    @Bean
    JobDetail report() {
        return JobBuilder.newJob(ReportJob.class)
                .withIdentity("report")
                .requestRecovery() // by another instance, if this one dies
                .storeDurably()
                .build();
    }
}
