package io.dbsemaphore.samples.backup.live;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.samples.backup.BackupService;
import io.dbsemaphore.samples.backup.JobKind;
import io.dbsemaphore.samples.backup.JobRunner;
import io.dbsemaphore.samples.backup.Pause;
import io.dbsemaphore.samples.backup.ReplicationService;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.annotation.Profile;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/** Keeps this instance at work until it is stopped. */
@Component
@Profile("live")
class LiveJobs {

    private static final Logger log = LoggerFactory.getLogger(LiveJobs.class);

    private static final List<String> SNAPSHOTS = List.of("orders", "customers", "invoices", "archive");
    private static final Duration WAIT_TIME = Duration.ofMinutes(1);

    private final LiveProperties properties;
    private final JobRunner runner;
    private final BackupService backups;
    private final ReplicationService replications;
    private final SemaphoreTemplate semaphores;
    private final ExecutorService callers = Executors.newCachedThreadPool();

    LiveJobs(
            LiveProperties properties,
            JobRunner runner,
            BackupService backups,
            ReplicationService replications,
            SemaphoreTemplate semaphores) {
        this.properties = properties;
        this.runner = runner;
        this.backups = backups;
        this.replications = replications;
        this.semaphores = semaphores;
    }

    @EventListener(ApplicationReadyEvent.class)
    void start() {
        call(properties.backups(), () -> runner.run(JobKind.BACKUP, snapshot(), backups::backUp));
        call(
                properties.replications(),
                () -> runner.run(
                        JobKind.REPLICATION, snapshot(), snapshot -> replications.replicate(snapshot, WAIT_TIME)));
        properties
                .calls()
                .forEach((semaphore, calls) ->
                        call(calls.callers(), () -> work(semaphore, between(calls.shortest(), calls.longest()))));
    }

    /** Interrupts the jobs, which release their permits. */
    @EventListener(ContextClosedEvent.class)
    void stop() {
        callers.shutdownNow();
    }

    private void call(int number, Runnable job) {
        for (int i = 0; i < number; i++) {
            callers.execute(() -> repeat(job));
        }
    }

    private void repeat(Runnable job) {
        while (!callers.isShutdown()) {
            try {
                Pause.of(between(Duration.ZERO, properties.pause()));
                job.run();
            } catch (PermitsUnavailableException refused) {
                log.info("Refused: {}", refused.getMessage());
            } catch (RuntimeException failure) {
                if (!callers.isShutdown()) {
                    log.warn("A job failed: {}", failure.getMessage());
                }
            }
        }
    }

    private void work(String semaphore, Duration duration) {
        semaphores.executeWithoutResult(
                AcquireRequest.of(semaphore).withWaitTime(WAIT_TIME), grant -> Pause.of(duration));
    }

    private static String snapshot() {
        return SNAPSHOTS.get(ThreadLocalRandom.current().nextInt(SNAPSHOTS.size()));
    }

    private static Duration between(Duration shortest, Duration longest) {
        return Duration.ofMillis(ThreadLocalRandom.current().nextLong(shortest.toMillis(), longest.toMillis() + 1));
    }
}
