package io.dbsemaphore.samples.migration.before;

import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.springframework.scheduling.annotation.Scheduled;

/** A report that one instance creates each night. */
public class NightlyReport {

    private final Runnable report;

    public NightlyReport(Runnable report) {
        this.report = report;
    }

    @Scheduled(cron = "0 0 3 * * *")
    @SchedulerLock(name = "nightly-report", lockAtMostFor = "1h")
    public void create() {
        report.run();
    }
}
