package io.dbsemaphore.samples.migration.after;

import io.dbsemaphore.annotation.OnUnavailable;
import io.dbsemaphore.annotation.WithPermits;
import org.springframework.scheduling.annotation.Scheduled;

/** A report that one instance creates each night. */
public class NightlyReport {

    private final Runnable report;

    public NightlyReport(Runnable report) {
        this.report = report;
    }

    @Scheduled(cron = "0 0 3 * * *")
    @WithPermits(
            names = "nightly-report",
            ttl = "1h",
            keepAlive = false,
            releaseAtShutdown = false,
            onUnavailable = OnUnavailable.SKIP)
    public void create() {
        report.run();
    }
}
